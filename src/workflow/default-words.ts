/**
 * What buttons without a text of their own are called in traces and attributes. Pages call them by words in the
 * visitor's language.
 */
export const defaultWords = {
  submit: "Submit",
  skip: "Skip for now",
  continue: "Continue",
  saveContact: "Save contact",
} as const;
