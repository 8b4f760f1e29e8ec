import type { Words } from "./words.ts";

export const italian: Words = {
  passwordTitle: "Questa pagina è protetta",
  password: "Password",
  continue: "Continua",
  submit: "Invia",
  skip: "Salta per ora",
  optional: "facoltativo",
  choose: "Scegli un’opzione",
  checkAnswers: "Controlla le risposte evidenziate.",
  faults: {
    REQUIRED: "Compila questo campo.",
    EMAIL: "Inserisci un indirizzo e-mail, ad esempio nome@example.com.",
    PHONE:
      "Inserisci un numero di telefono con il prefisso internazionale, ad esempio +39\u00a006\u00a01234567.",
    NUMBER: "Inserisci un numero.",
    DATE: "Inserisci una data.",
    OPTION: "Scegli una delle opzioni.",
    RATING: "Scegli da 1 a 5.",
    TOO_LONG: "È troppo lungo. Accorcialo.",
    PASSWORD: "La password non è corretta. Riprova.",
  },
  email: "E-mail",
  phone: "Telefono",
  firstName: "Nome",
  lastName: "Cognome",
  website: "Sito web",
  address: "Indirizzo",
  saveContact: "Salva contatto",
  rating: "{rating} su 5",
  goesOn: "Si prosegue {when}.",
  goOnNow: "Continua ora",
  madeWith: "Creato con {service}",
  notices: {
    NOT_FOUND: { title: "Qui non c’è nulla", text: "Controlla l’indirizzo o scansiona di nuovo il codice." },
    NOT_AVAILABLE: {
      title: "Non disponibile",
      text: "Al momento questo link non porta da nessuna parte. Riprova più tardi.",
    },
    EXPIRED: {
      title: "Questo link è scaduto",
      text: "Non porta più da nessuna parte. Chiedine uno nuovo a chi te l’ha dato.",
    },
    BAD_REQUEST: { title: "Non ha funzionato", text: "L’indirizzo non è leggibile. Controllalo." },
    FORBIDDEN: { title: "Non ha funzionato", text: "Apri di nuovo il link e rispondi sulla sua pagina." },
    WRONG_METHOD: {
      title: "Non ha funzionato",
      text: "Questo indirizzo si può solo aprire, non gli si può inviare nulla.",
    },
    TOO_LARGE: { title: "Non ha funzionato", text: "La risposta è troppo lunga. Accorciala." },
    TOO_MANY_MISSES: {
      title: "Più piano, per favore",
      text: "Dalla tua rete sono stati richiesti troppi indirizzi sconosciuti. Riprova tra un minuto.",
    },
    TOO_MANY_TRIES: {
      title: "Troppi tentativi",
      text: "La password era sbagliata troppe volte. Potrai riprovare {when}.",
    },
    UNAVAILABLE: {
      title: "Torniamo tra un attimo",
      text: "Al momento questo link non può essere cercato. Riprova.",
    },
    HOME: { title: "Signpost", text: "Qui si servono link brevi e codici QR." },
  },
};
