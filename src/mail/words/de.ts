import type { Compared, QuotaLimit } from "../../model/mail.ts";
import { compare, counter, type Words } from "./words.ts";

const count = counter("de");

const limits: Readonly<Record<QuotaLimit, string>> = {
  ASSISTANT_MESSAGES_PER_MINUTE: "Nachrichten an den Assistenten pro Minute",
  CUSTOM_DOMAINS: "eigene Domains",
  LINKS_INCLUDED: "Links",
  PLATFORM_CREDITS: "Credits",
  PUBLIC_API_CALLS: "API-Aufrufe",
  TEAM_MEMBERS: "Mitglieder",
  TRACKED_VISITS: "erfasste Besuche",
  WEBHOOKS: "Webhooks",
};

function than(compared: Compared, period: "week" | "month"): string {
  const before = period === "week" ? "in der Woche davor" : "im Monat davor";
  const change = compare(compared);
  if (change === "same") return `so viele wie ${before}`;
  const difference =
    "more" in change ? count(change.more, "mehr", "mehr") : count(change.fewer, "weniger", "weniger");
  return `${difference} als ${before}`;
}

export const german: Words = {
  greeting: (name) => (name === "" ? "Guten Tag," : `Guten Tag ${name},`),
  footer: (workspace, service) =>
    `Sie erhalten diese Nachricht, weil Ihre Adresse im Arbeitsbereich „${workspace}“ auf Signpost unter ${service} eingetragen ist.`,
  letters: {
    invitation: ({ workspace, link, days }) => ({
      subject: `Einladung zu „${workspace}“`,
      paragraphs: [
        `Sie sind eingeladen, im Arbeitsbereich „${workspace}“ mitzuarbeiten. Wählen Sie ein Passwort, um die Einladung anzunehmen.`,
      ],
      action: { label: "Einladung annehmen", url: link },
      notes: [
        `Der Link gilt ${count(days, "Tag", "Tage")}.`,
        "Wenn Sie die Einladung nicht erwartet haben, können Sie diese Nachricht ignorieren.",
      ],
    }),
    "sign-up": ({ workspace, link, days }) => ({
      subject: `Schließen Sie Ihre Anmeldung für „${workspace}“ ab`,
      paragraphs: [
        `Ihr Arbeitsbereich „${workspace}“ ist bereit. Wählen Sie ein Passwort, um Ihre Adresse zu bestätigen und sich anzumelden.`,
      ],
      action: { label: "Passwort wählen", url: link },
      notes: [
        `Der Link gilt ${count(days, "Tag", "Tage")}.`,
        "Wenn Sie sich nicht angemeldet haben, können Sie diese Nachricht ignorieren: Der Arbeitsbereich wird dann gelöscht.",
      ],
    }),
    "email-confirmation": ({ workspace, link, days }) => ({
      subject: "Bestätigen Sie Ihre E-Mail-Adresse",
      paragraphs: [
        `Bitte bestätigen Sie, dass diese Adresse Ihnen gehört. Sie melden sich damit im Arbeitsbereich „${workspace}“ an.`,
      ],
      action: { label: "Adresse bestätigen", url: link },
      notes: [
        `Der Link gilt ${count(days, "Tag", "Tage")}.`,
        "Wenn die Adresse ohne Ihr Wissen eingegeben wurde, können Sie diese Nachricht ignorieren.",
      ],
    }),
    "email-changed": ({ workspace, newEmail }) => ({
      subject: "Ihre E-Mail-Adresse wurde geändert",
      paragraphs: [
        `Sie melden sich im Arbeitsbereich „${workspace}“ ab jetzt mit ${newEmail} an. Diese Adresse hat kein Konto mehr.`,
      ],
      notes: [
        "Wenn Sie das nicht wollten, wenden Sie sich sofort an eine Administratorin oder einen Administrator.",
      ],
    }),
    "sign-in-code": ({ code, minutes }) => ({
      subject: "Ihr Anmeldecode",
      paragraphs: ["Geben Sie diesen Code ein, um sich anzumelden:"],
      code,
      notes: [
        `Der Code gilt einmal, ${count(minutes, "Minute", "Minuten")} lang.`,
        "Wenn Sie sich gerade nicht anmelden, kennt jemand Ihr Passwort: Ändern Sie es.",
      ],
    }),
    "password-reset": ({ link, minutes }) => ({
      subject: "Wählen Sie ein neues Passwort",
      paragraphs: ["Jemand hat ein neues Passwort für Ihr Konto angefordert."],
      action: { label: "Neues Passwort wählen", url: link },
      notes: [
        `Der Link gilt einmal, ${count(minutes, "Minute", "Minuten")} lang.`,
        "Wenn Sie das nicht waren, können Sie diese Nachricht ignorieren: Ihr Passwort bleibt, wie es ist.",
      ],
    }),
    quota: ({ workspace, limit, percent, used, allowed }) => ({
      subject:
        percent === 100 ? `Aufgebraucht: ${limits[limit]}` : `Zu ${percent} % verbraucht: ${limits[limit]}`,
      paragraphs: [
        `Der Arbeitsbereich „${workspace}“ hat ${used} von ${allowed} verbraucht, die sein Tarif enthält (${limits[limit]}).`,
        percent === 100
          ? "Mehr ist nicht enthalten, bis die Grenze angehoben wird oder neu beginnt. Kurzlinks funktionieren weiter."
          : "Kurzlinks funktionieren auch dann weiter, wenn die Grenze erreicht ist.",
      ],
      notes: [],
    }),
    digest: ({ workspace, period, firstDay, lastDay, visits, links, visitors, mostVisited }) => ({
      subject: `${period === "week" ? "Ihre Woche" : "Ihr Monat"} in „${workspace}“: ${count(visits.now, "Besuch", "Besuche")}`,
      paragraphs: [
        `Das geschah vom ${firstDay} bis zum ${lastDay}:`,
        `Ihre Links hatten ${count(visits.now, "Besuch", "Besuche")}, ${than(visits, period)}.`,
        `Sie haben ${count(links.now, "Link", "Links")} angelegt, ${than(links, period)}.`,
        `Neu dazu kamen ${count(visitors.now, "Besucher", "Besucher")}, ${than(visitors, period)}.`,
      ],
      ...(mostVisited.length > 0 && {
        list: {
          title: "Die meistbesuchten Links",
          items: mostVisited.map((link) => `${link.name}: ${count(link.visits, "Besuch", "Besuche")}`),
        },
      }),
      notes: [
        "Wie oft diese Nachricht kommt, legt die Administration in den Einstellungen des Arbeitsbereichs fest.",
      ],
    }),
    "webhook-disabled": ({ workspace, url, reason }) => ({
      subject: "Ein Webhook wurde abgeschaltet",
      paragraphs: [`Der Arbeitsbereich „${workspace}“ sendet nichts mehr an ${url}: ${reason}`],
      notes: ["Beheben Sie den Fehler beim Empfänger und schalten Sie den Webhook dann wieder ein."],
    }),
    "domain-away": ({ workspace, domain, fault, servedUntil }) => ({
      subject: `${domain} führt nicht mehr zu Signpost`,
      paragraphs: [
        `Die Nameserver von ${domain}, einer eigenen Domain des Arbeitsbereichs „${workspace}“, führen Besucher anderswohin: ${fault}`,
        `Bis ${servedUntil} funktionieren die Links der Domain für alle, die sie noch erreichen. Danach wird dort nichts mehr ausgeliefert.`,
      ],
      notes: [
        "Richten Sie die DNS-Einträge wieder ein, oder löschen Sie die Domain, wenn Sie sie aufgegeben haben.",
      ],
    }),
    "workspace-deleted": ({ workspace, restorableUntil }) => ({
      subject: `Der Arbeitsbereich „${workspace}“ wurde gelöscht`,
      paragraphs: [
        `Der Arbeitsbereich „${workspace}“ wurde gelöscht. Seine Links und Schlüssel funktionieren nicht mehr.`,
        `Bis ${restorableUntil} kann ihn der Betreiber des Dienstes wiederherstellen. Danach ist alles darin endgültig gelöscht.`,
      ],
      notes: [],
    }),
  },
};
