import type { Words } from "./words.ts";

export const dutch: Words = {
  passwordTitle: "Deze pagina is beveiligd",
  password: "Wachtwoord",
  continue: "Verder",
  submit: "Verzenden",
  skip: "Nu overslaan",
  optional: "optioneel",
  choose: "Maak een keuze",
  checkAnswers: "Controleer de gemarkeerde antwoorden.",
  faults: {
    REQUIRED: "Vul dit veld in.",
    EMAIL: "Vul een e-mailadres in, zoals naam@example.com.",
    PHONE: "Vul een telefoonnummer met landnummer in, zoals +31\u00a020\u00a0123\u00a04567.",
    NUMBER: "Vul een getal in.",
    DATE: "Vul een datum in.",
    OPTION: "Kies een van de opties.",
    RATING: "Kies 1 tot en met 5.",
    TOO_LONG: "Dit is te lang. Maak het korter.",
    PASSWORD: "Dat is niet het juiste wachtwoord. Probeer het opnieuw.",
  },
  email: "E-mail",
  phone: "Telefoon",
  firstName: "Voornaam",
  lastName: "Achternaam",
  website: "Website",
  address: "Adres",
  saveContact: "Contact opslaan",
  rating: "{rating} van 5",
  goesOn: "Deze pagina gaat {when} verder.",
  goOnNow: "Nu verder",
  notices: {
    NOT_FOUND: { title: "Hier is niets", text: "Controleer het adres of scan de code opnieuw." },
    NOT_AVAILABLE: {
      title: "Niet beschikbaar",
      text: "Deze link leidt op dit moment nergens heen. Probeer het later opnieuw.",
    },
    EXPIRED: {
      title: "Deze link is verlopen",
      text: "Hij leidt nergens meer heen. Vraag een nieuwe aan degene van wie u hem hebt gekregen.",
    },
    BAD_REQUEST: { title: "Dat is niet gelukt", text: "Het adres is niet leesbaar. Controleer het." },
    FORBIDDEN: { title: "Dat is niet gelukt", text: "Open de link opnieuw en antwoord op die pagina." },
    WRONG_METHOD: {
      title: "Dat is niet gelukt",
      text: "Dit adres kan alleen worden geopend; er kan niets naartoe worden gestuurd.",
    },
    TOO_LARGE: { title: "Dat is niet gelukt", text: "Het antwoord is te lang. Maak het korter." },
    TOO_MANY_MISSES: {
      title: "Rustig aan, alstublieft",
      text: "Vanaf uw netwerk zijn te veel onbekende adressen opgevraagd. Probeer het over een minuut opnieuw.",
    },
    TOO_MANY_TRIES: {
      title: "Te veel pogingen",
      text: "Het wachtwoord was te vaak onjuist. U kunt het {when} opnieuw proberen.",
    },
    UNAVAILABLE: {
      title: "Zo weer terug",
      text: "Deze link kan nu niet worden opgezocht. Probeer het opnieuw.",
    },
    HOME: { title: "Signpost", text: "Hier staan korte links en QR-codes." },
  },
};
