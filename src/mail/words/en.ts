import type { Compared, QuotaLimit } from "../../model/mail.ts";
import { compare, counter, type Words } from "./words.ts";

const count = counter("en");

const limits: Readonly<Record<QuotaLimit, string>> = {
  ASSISTANT_MESSAGES_PER_MINUTE: "messages to the assistant per minute",
  CUSTOM_DOMAINS: "custom domains",
  LINKS_INCLUDED: "links",
  PLATFORM_CREDITS: "credits",
  PUBLIC_API_CALLS: "API calls",
  TEAM_MEMBERS: "members",
  TRACKED_VISITS: "tracked visits",
  WEBHOOKS: "webhooks",
};

function than(compared: Compared, period: "week" | "month"): string {
  const change = compare(compared);
  if (change === "same") return `as many as in the ${period} before`;
  const difference =
    "more" in change ? count(change.more, "more", "more") : count(change.fewer, "fewer", "fewer");
  return `${difference} than in the ${period} before`;
}

export const english: Words = {
  greeting: (name) => (name === "" ? "Hello," : `Hello ${name},`),
  footer: (workspace, service) =>
    `You get this mail because your address is registered in the workspace “${workspace}” on Signpost at ${service}.`,
  letters: {
    invitation: ({ workspace, link, days }) => ({
      subject: `You are invited to “${workspace}”`,
      paragraphs: [
        `You are invited to work in the workspace “${workspace}”. Choose a password to accept the invitation.`,
      ],
      action: { label: "Accept the invitation", url: link },
      notes: [
        `The link works for ${count(days, "day", "days")}.`,
        "If you did not expect the invitation, you can ignore this mail.",
      ],
    }),
    "sign-up": ({ workspace, link, days }) => ({
      subject: `Finish your sign-up for “${workspace}”`,
      paragraphs: [
        `Your workspace “${workspace}” is ready. Choose a password to confirm your address and to sign in.`,
      ],
      action: { label: "Choose a password", url: link },
      notes: [
        `The link works for ${count(days, "day", "days")}.`,
        "If you did not sign up, you can ignore this mail: the workspace is then deleted.",
      ],
    }),
    "email-confirmation": ({ workspace, link, days }) => ({
      subject: "Confirm your e-mail address",
      paragraphs: [
        `Please confirm that this address is yours. You sign in to the workspace “${workspace}” with it.`,
      ],
      action: { label: "Confirm the address", url: link },
      notes: [
        `The link works for ${count(days, "day", "days")}.`,
        "If the address was entered without your knowledge, you can ignore this mail.",
      ],
    }),
    "email-changed": ({ workspace, newEmail }) => ({
      subject: "Your e-mail address was changed",
      paragraphs: [
        `You sign in to the workspace “${workspace}” with ${newEmail} from now on. This address has no account any more.`,
      ],
      notes: ["If you did not want this, tell an administrator of the workspace at once."],
    }),
    "sign-in-code": ({ code, minutes }) => ({
      subject: "Your sign-in code",
      paragraphs: ["Enter this code to sign in:"],
      code,
      notes: [
        `The code works once, for ${count(minutes, "minute", "minutes")}.`,
        "If you are not signing in, somebody knows your password: change it.",
      ],
    }),
    "password-reset": ({ link, minutes }) => ({
      subject: "Choose a new password",
      paragraphs: ["Somebody asked for a new password for your account."],
      action: { label: "Choose a new password", url: link },
      notes: [
        `The link works once, for ${count(minutes, "minute", "minutes")}.`,
        "If it was not you, you can ignore this mail: your password stays as it is.",
      ],
    }),
    quota: ({ workspace, limit, percent, used, allowed }) => ({
      subject:
        percent === 100 ? `All ${limits[limit]} are used up` : `${percent}% of the ${limits[limit]} are used`,
      paragraphs: [
        `The workspace “${workspace}” has used ${used} of the ${allowed} ${limits[limit]} that its plan includes.`,
        percent === 100
          ? "Nothing more is included until the limit is raised or starts anew. Short links go on working."
          : "Short links go on working when the limit is reached.",
      ],
      notes: [],
    }),
    digest: ({ workspace, period, firstDay, lastDay, visits, links, visitors, mostVisited }) => ({
      subject: `Your ${period} in “${workspace}”: ${count(visits.now, "visit", "visits")}`,
      paragraphs: [
        `This happened from ${firstDay} to ${lastDay}:`,
        `Your links had ${count(visits.now, "visit", "visits")}, ${than(visits, period)}.`,
        `You made ${count(links.now, "link", "links")}, ${than(links, period)}.`,
        `${count(visitors.now, "new visitor", "new visitors")} came, ${than(visitors, period)}.`,
      ],
      ...(mostVisited.length > 0 && {
        list: {
          title: "The most visited links",
          items: mostVisited.map((link) => `${link.name}: ${count(link.visits, "visit", "visits")}`),
        },
      }),
      notes: ["Administrators choose in the settings of the workspace how often this mail comes."],
    }),
    "webhook-disabled": ({ workspace, url, reason }) => ({
      subject: "A webhook was switched off",
      paragraphs: [`The workspace “${workspace}” sends nothing to ${url} any more: ${reason}`],
      notes: ["Mend the receiver, then switch the webhook on again."],
    }),
    "domain-away": ({ workspace, domain, fault, servedUntil }) => ({
      subject: `${domain} no longer leads to Signpost`,
      paragraphs: [
        `The name servers of ${domain}, a custom domain of the workspace “${workspace}”, lead visitors elsewhere: ${fault}`,
        `Until ${servedUntil} the links on the domain go on working for those who still reach them. After that nothing is served on it.`,
      ],
      notes: ["Mend the DNS records, or delete the domain if you have given it up."],
    }),
    "workspace-deleted": ({ workspace, restorableUntil }) => ({
      subject: `The workspace “${workspace}” was deleted`,
      paragraphs: [
        `The workspace “${workspace}” was deleted. Its links and keys work no more.`,
        `Until ${restorableUntil} the operator of the service can restore it. After that everything in it is gone for good.`,
      ],
      notes: [],
    }),
  },
};
