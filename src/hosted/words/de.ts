import type { Words } from "./words.ts";

export const german: Words = {
  passwordTitle: "Diese Seite ist geschützt",
  password: "Passwort",
  continue: "Weiter",
  submit: "Absenden",
  skip: "Überspringen",
  optional: "freiwillig",
  choose: "Bitte auswählen",
  checkAnswers: "Bitte prüfen Sie die markierten Angaben.",
  faults: {
    REQUIRED: "Bitte füllen Sie dieses Feld aus.",
    EMAIL: "Bitte geben Sie eine E-Mail-Adresse ein, etwa name@example.com.",
    PHONE: "Bitte geben Sie eine Telefonnummer mit Ländervorwahl ein, etwa +49\u00a030\u00a0123456.",
    NUMBER: "Bitte geben Sie eine Zahl ein.",
    DATE: "Bitte geben Sie ein Datum ein.",
    OPTION: "Bitte wählen Sie eine der Möglichkeiten.",
    RATING: "Bitte wählen Sie 1 bis 5.",
    TOO_LONG: "Das ist zu lang. Bitte kürzen Sie es.",
    PASSWORD: "Das Passwort stimmt nicht. Bitte versuchen Sie es noch einmal.",
  },
  email: "E-Mail",
  phone: "Telefon",
  firstName: "Vorname",
  lastName: "Nachname",
  website: "Website",
  address: "Adresse",
  saveContact: "Kontakt speichern",
  rating: "{rating} von 5",
  goesOn: "Es geht {when} weiter.",
  goOnNow: "Jetzt weiter",
  madeWith: "Erstellt mit {service}",
  notices: {
    NOT_FOUND: {
      title: "Hier ist nichts",
      text: "Bitte prüfen Sie die Adresse oder scannen Sie den Code noch einmal.",
    },
    NOT_AVAILABLE: {
      title: "Nicht verfügbar",
      text: "Dieser Link führt zurzeit nirgendwohin. Bitte versuchen Sie es später noch einmal.",
    },
    EXPIRED: {
      title: "Dieser Link ist abgelaufen",
      text: "Er führt nirgendwo mehr hin. Bitte fragen Sie dort, wo Sie ihn herhaben, nach einem neuen.",
    },
    BAD_REQUEST: {
      title: "Das hat nicht geklappt",
      text: "Die Adresse ist nicht lesbar. Bitte prüfen Sie sie.",
    },
    FORBIDDEN: {
      title: "Das hat nicht geklappt",
      text: "Bitte öffnen Sie den Link noch einmal und antworten Sie auf seiner Seite.",
    },
    WRONG_METHOD: {
      title: "Das hat nicht geklappt",
      text: "Diese Adresse lässt sich nur öffnen, nicht beschreiben.",
    },
    TOO_LARGE: {
      title: "Das hat nicht geklappt",
      text: "Die Antwort ist zu lang. Bitte kürzen Sie sie.",
    },
    TOO_MANY_MISSES: {
      title: "Bitte etwas langsamer",
      text: "Aus Ihrem Netz wurden zu viele unbekannte Adressen abgefragt. Bitte versuchen Sie es in einer Minute noch einmal.",
    },
    TOO_MANY_TRIES: {
      title: "Zu viele Versuche",
      text: "Das Passwort war zu oft falsch. Sie können es {when} wieder versuchen.",
    },
    UNAVAILABLE: {
      title: "Gleich wieder da",
      text: "Dieser Link lässt sich gerade nicht nachschlagen. Bitte versuchen Sie es noch einmal.",
    },
    HOME: { title: "Signpost", text: "Hier werden Kurzlinks und QR-Codes ausgeliefert." },
  },
};
