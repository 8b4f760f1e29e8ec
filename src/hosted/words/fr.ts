import type { Words } from "./words.ts";

export const french: Words = {
  passwordTitle: "Cette page est protégée",
  password: "Mot de passe",
  continue: "Continuer",
  submit: "Envoyer",
  skip: "Passer pour l’instant",
  optional: "facultatif",
  choose: "Veuillez choisir",
  checkAnswers: "Veuillez vérifier les réponses signalées.",
  faults: {
    REQUIRED: "Veuillez remplir ce champ.",
    EMAIL: "Veuillez saisir une adresse e-mail, par exemple nom@example.com.",
    PHONE:
      "Veuillez saisir un numéro de téléphone avec l’indicatif du pays, par exemple +33\u00a01\u00a023\u00a045\u00a067\u00a089.",
    NUMBER: "Veuillez saisir un nombre.",
    DATE: "Veuillez saisir une date.",
    OPTION: "Veuillez choisir l’une des options.",
    RATING: "Veuillez choisir de 1 à 5.",
    TOO_LONG: "C’est trop long. Veuillez raccourcir.",
    PASSWORD: "Ce mot de passe est incorrect. Veuillez réessayer.",
  },
  email: "E-mail",
  phone: "Téléphone",
  firstName: "Prénom",
  lastName: "Nom",
  website: "Site web",
  address: "Adresse",
  saveContact: "Enregistrer le contact",
  rating: "{rating} sur 5",
  goesOn: "La suite s’affichera {when}.",
  goOnNow: "Continuer maintenant",
  madeWith: "Réalisé avec {service}",
  notices: {
    NOT_FOUND: {
      title: "Il n’y a rien ici",
      text: "Veuillez vérifier l’adresse ou scanner à nouveau le code.",
    },
    NOT_AVAILABLE: {
      title: "Indisponible",
      text: "Ce lien ne mène nulle part pour le moment. Veuillez réessayer plus tard.",
    },
    EXPIRED: {
      title: "Ce lien a expiré",
      text: "Il ne mène plus nulle part. Veuillez en demander un nouveau à la personne qui vous l’a donné.",
    },
    BAD_REQUEST: {
      title: "Cela n’a pas fonctionné",
      text: "L’adresse est illisible. Veuillez la vérifier.",
    },
    FORBIDDEN: {
      title: "Cela n’a pas fonctionné",
      text: "Veuillez rouvrir le lien et répondre sur sa page.",
    },
    WRONG_METHOD: {
      title: "Cela n’a pas fonctionné",
      text: "Cette adresse peut seulement être ouverte, rien ne peut y être envoyé.",
    },
    TOO_LARGE: {
      title: "Cela n’a pas fonctionné",
      text: "La réponse est trop longue. Veuillez la raccourcir.",
    },
    TOO_MANY_MISSES: {
      title: "Un peu moins vite",
      text: "Trop d’adresses inconnues ont été demandées depuis votre réseau. Veuillez réessayer dans une minute.",
    },
    TOO_MANY_TRIES: {
      title: "Trop de tentatives",
      text: "Le mot de passe a été incorrect trop de fois. Vous pourrez réessayer {when}.",
    },
    UNAVAILABLE: {
      title: "De retour dans un instant",
      text: "Ce lien ne peut pas être consulté actuellement. Veuillez réessayer.",
    },
    HOME: { title: "Signpost", text: "Ici sont servis des liens courts et des codes QR." },
  },
};
