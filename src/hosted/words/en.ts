import type { Words } from "./words.ts";

export const english: Words = {
  passwordTitle: "This page is protected",
  password: "Password",
  continue: "Continue",
  submit: "Submit",
  skip: "Skip for now",
  optional: "optional",
  choose: "Please choose",
  checkAnswers: "Please check the marked answers.",
  faults: {
    REQUIRED: "Please fill this in.",
    EMAIL: "Please enter an e-mail address, such as name@example.com.",
    PHONE: "Please enter a phone number with its country code, such as +1\u00a0212\u00a0555\u00a00123.",
    NUMBER: "Please enter a number.",
    DATE: "Please enter a date.",
    OPTION: "Please choose one of the options.",
    RATING: "Please choose 1 to 5.",
    TOO_LONG: "This is too long. Please shorten it.",
    PASSWORD: "That is not the password. Please try again.",
  },
  email: "E-mail",
  phone: "Phone",
  firstName: "First name",
  lastName: "Last name",
  website: "Website",
  address: "Address",
  saveContact: "Save contact",
  rating: "{rating} of 5",
  goesOn: "This page moves on {when}.",
  goOnNow: "Continue now",
  madeWith: "Made with {service}",
  notices: {
    NOT_FOUND: {
      title: "There is nothing here",
      text: "Please check the address, or scan the code again.",
    },
    NOT_AVAILABLE: {
      title: "Not available",
      text: "This link does not lead anywhere at the moment. Please try again later.",
    },
    EXPIRED: {
      title: "This link has expired",
      text: "It does not lead anywhere any more. Please ask whoever gave it to you for a new one.",
    },
    BAD_REQUEST: {
      title: "That did not work",
      text: "The address could not be read. Please check it.",
    },
    FORBIDDEN: {
      title: "That did not work",
      text: "Please open the link again, and answer on its page.",
    },
    WRONG_METHOD: {
      title: "That did not work",
      text: "This address can only be opened, not written to.",
    },
    TOO_LARGE: { title: "That did not work", text: "The answer is too long. Please shorten it." },
    TOO_MANY_MISSES: {
      title: "Slow down, please",
      text: "Too many unknown addresses were asked for from your network. Please try again in a minute.",
    },
    TOO_MANY_TRIES: {
      title: "Too many tries",
      text: "The password was wrong too often. You can try again {when}.",
    },
    UNAVAILABLE: {
      title: "Back in a moment",
      text: "This link cannot be looked up right now. Please try again.",
    },
    HOME: { title: "Signpost", text: "Short links and QR codes are served here." },
  },
};
