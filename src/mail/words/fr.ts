import type { Compared, QuotaLimit } from "../../model/mail.ts";
import { compare, counter, type Words } from "./words.ts";

const count = counter("fr");

const limits: Readonly<Record<QuotaLimit, string>> = {
  ASSISTANT_MESSAGES_PER_MINUTE: "messages à l’assistant par minute",
  CUSTOM_DOMAINS: "domaines personnalisés",
  LINKS_INCLUDED: "liens",
  PLATFORM_CREDITS: "crédits",
  PUBLIC_API_CALLS: "appels d’API",
  TEAM_MEMBERS: "membres",
  TRACKED_VISITS: "visites suivies",
  WEBHOOKS: "webhooks",
};

function than(compared: Compared, period: "week" | "month"): string {
  const before = period === "week" ? "la semaine précédente" : "le mois précédent";
  const change = compare(compared);
  if (change === "same") return `autant que ${before}`;
  const difference =
    "more" in change ? count(change.more, "de plus", "de plus") : count(change.fewer, "de moins", "de moins");
  return `${difference} que ${before}`;
}

export const french: Words = {
  greeting: (name) => (name === "" ? "Bonjour," : `Bonjour ${name},`),
  footer: (workspace, service) =>
    `Vous recevez ce message parce que votre adresse est enregistrée dans l’espace de travail «\u00a0${workspace}\u00a0» sur Signpost, à l’adresse ${service}.`,
  letters: {
    invitation: ({ workspace, link, days }) => ({
      subject: `Invitation à rejoindre «\u00a0${workspace}\u00a0»`,
      paragraphs: [
        `Vous êtes invité à travailler dans l’espace de travail «\u00a0${workspace}\u00a0». Choisissez un mot de passe pour accepter l’invitation.`,
      ],
      action: { label: "Accepter l’invitation", url: link },
      notes: [
        `Le lien est valable ${count(days, "jour", "jours")}.`,
        "Si vous n’attendiez pas cette invitation, vous pouvez ignorer ce message.",
      ],
    }),
    "sign-up": ({ workspace, link, days }) => ({
      subject: `Terminez votre inscription à «\u00a0${workspace}\u00a0»`,
      paragraphs: [
        `Votre espace de travail «\u00a0${workspace}\u00a0» est prêt. Choisissez un mot de passe pour confirmer votre adresse et vous connecter.`,
      ],
      action: { label: "Choisir un mot de passe", url: link },
      notes: [
        `Le lien est valable ${count(days, "jour", "jours")}.`,
        "Si vous ne vous êtes pas inscrit, vous pouvez ignorer ce message\u00a0: l’espace de travail sera supprimé.",
      ],
    }),
    "email-confirmation": ({ workspace, link, days }) => ({
      subject: "Confirmez votre adresse e-mail",
      paragraphs: [
        `Veuillez confirmer que cette adresse est la vôtre. Elle vous sert à vous connecter à l’espace de travail «\u00a0${workspace}\u00a0».`,
      ],
      action: { label: "Confirmer l’adresse", url: link },
      notes: [
        `Le lien est valable ${count(days, "jour", "jours")}.`,
        "Si cette adresse a été saisie à votre insu, vous pouvez ignorer ce message.",
      ],
    }),
    "email-changed": ({ workspace, newEmail }) => ({
      subject: "Votre adresse e-mail a été modifiée",
      paragraphs: [
        `Vous vous connectez désormais à l’espace de travail «\u00a0${workspace}\u00a0» avec ${newEmail}. Cette adresse-ci n’a plus de compte.`,
      ],
      notes: [
        "Si vous ne l’avez pas voulu, prévenez immédiatement un administrateur de l’espace de travail.",
      ],
    }),
    "sign-in-code": ({ code, minutes }) => ({
      subject: "Votre code de connexion",
      paragraphs: ["Saisissez ce code pour vous connecter :"],
      code,
      notes: [
        `Le code est valable une fois, pendant ${count(minutes, "minute", "minutes")}.`,
        "Si vous n’êtes pas en train de vous connecter, quelqu’un connaît votre mot de passe : changez-le.",
      ],
    }),
    "password-reset": ({ link, minutes }) => ({
      subject: "Choisissez un nouveau mot de passe",
      paragraphs: ["Quelqu’un a demandé un nouveau mot de passe pour votre compte."],
      action: { label: "Choisir un nouveau mot de passe", url: link },
      notes: [
        `Le lien est valable une fois, pendant ${count(minutes, "minute", "minutes")}.`,
        "Si ce n’était pas vous, vous pouvez ignorer ce message : votre mot de passe reste inchangé.",
      ],
    }),
    quota: ({ workspace, limit, percent, used, allowed }) => ({
      subject:
        percent === 100 ? `Limite atteinte : ${limits[limit]}` : `${percent} % utilisés : ${limits[limit]}`,
      paragraphs: [
        `L’espace de travail «\u00a0${workspace}\u00a0» a utilisé ${used} sur ${allowed} inclus dans son offre (${limits[limit]}).`,
        percent === 100
          ? "Rien de plus n’est inclus tant que la limite n’est pas relevée ou remise à zéro. Les liens courts continuent de fonctionner."
          : "Les liens courts continuent de fonctionner quand la limite est atteinte.",
      ],
      notes: [],
    }),
    digest: ({ workspace, period, firstDay, lastDay, visits, links, visitors, mostVisited }) => ({
      subject: `Votre ${period === "week" ? "semaine" : "mois"} dans «\u00a0${workspace}\u00a0» : ${count(visits.now, "visite", "visites")}`,
      paragraphs: [
        `Voici ce qui s’est passé du ${firstDay} au ${lastDay} :`,
        `Vos liens ont reçu ${count(visits.now, "visite", "visites")}, ${than(visits, period)}.`,
        `Vous avez créé ${count(links.now, "lien", "liens")}, ${than(links, period)}.`,
        `Vous avez eu ${count(visitors.now, "nouveau visiteur", "nouveaux visiteurs")}, ${than(visitors, period)}.`,
      ],
      ...(mostVisited.length > 0 && {
        list: {
          title: "Les liens les plus visités",
          items: mostVisited.map((link) => `${link.name} : ${count(link.visits, "visite", "visites")}`),
        },
      }),
      notes: [
        "Les administrateurs choisissent la fréquence de ce message dans les réglages de l’espace de travail.",
      ],
    }),
    "webhook-disabled": ({ workspace, url, reason }) => ({
      subject: "Un webhook a été désactivé",
      paragraphs: [`L’espace de travail «\u00a0${workspace}\u00a0» n’envoie plus rien à ${url} : ${reason}`],
      notes: ["Réparez le destinataire, puis réactivez le webhook."],
    }),
    "domain-away": ({ workspace, domain, fault, servedUntil }) => ({
      subject: `${domain} ne mène plus à Signpost`,
      paragraphs: [
        `Les serveurs de noms de ${domain}, un domaine personnalisé de l’espace de travail «\u00a0${workspace}\u00a0», mènent les visiteurs ailleurs\u00a0: ${fault}`,
        `Jusqu’au ${servedUntil}, les liens du domaine continuent de fonctionner pour ceux qui les atteignent encore. Ensuite, plus rien n’y est servi.`,
      ],
      notes: ["Corrigez les enregistrements DNS, ou supprimez le domaine si vous l’avez abandonné."],
    }),
    "workspace-deleted": ({ workspace, restorableUntil }) => ({
      subject: `L’espace de travail «\u00a0${workspace}\u00a0» a été supprimé`,
      paragraphs: [
        `L’espace de travail «\u00a0${workspace}\u00a0» a été supprimé. Ses liens et ses clés ne fonctionnent plus.`,
        `Jusqu’au ${restorableUntil}, l’opérateur du service peut le restaurer. Ensuite, tout ce qu’il contient sera définitivement perdu.`,
      ],
      notes: [],
    }),
  },
};
