import { linkTo, localTime, mrkdwn } from "./mrkdwn.ts";
import type { SlackMessage } from "./slack.ts";
import { type Detail, stepFactsOf, textAt, valueAt } from "./step-facts.ts";

/** Slack takes ten fields in a section. */
const fieldsMax = 10;

/** The message that shows that the channel is the right one. */
export function testMessage(): SlackMessage {
  const text = "Signpost is connected to this channel. Completed steps of your links will be shown here.";
  return { text, blocks: [section(text)] };
}

/**
 * The message about a completed step: the body of a webhook's message, as people read it. Everything that visitors typed
 * stands there as they typed it, whatever it would mean to Slack.
 */
export function stepMessage(body: string): SlackMessage {
  const message: unknown = JSON.parse(body);
  const data = valueAt(message, "data");
  const { what, details } = stepFactsOf(data);
  const shown = details.slice(0, fieldsMax);
  const context = contextOf(data, details.length - shown.length);
  const entrypoint = textAt(data, "link", "entrypoint");
  const link = textAt(data, "link", "name") || textAt(data, "link", "shortlink") || "a link";
  const blocks = [
    section(`*${what}*: ${linkTo(entrypoint, link)}`),
    ...(shown.length === 0 ? [] : [fieldsOf(shown)]),
    { type: "context", elements: [mrkdwnObject([...context, timeOf(data, message)].join(" · "))] },
  ];
  const told = shown.map(({ name, value }) => `${mrkdwn(name)}: ${mrkdwn(value)}`);
  const text = [`${what}: ${mrkdwn(link)}`, ...told, context.join(" · ")].filter((line) => line !== "");
  return { text: text.join("\n"), blocks };
}

function contextOf(data: unknown, hidden: number): string[] {
  const device = ["deviceName", "platformName", "browserName"].map((name) => textAt(data, "device", name));
  const place = ["city", "country"].map((name) => textAt(data, "device", name));
  const isReturning = textAt(data, "event", "visitType") === "VISIT_TYPE_RETURNING";
  return [
    hidden > 0 ? `${hidden} more` : "",
    isReturning ? "returning visitor" : "",
    mrkdwn(device.filter(Boolean).join(", ")),
    mrkdwn(place.filter(Boolean).join(", ")),
  ].filter((part) => part !== "");
}

function timeOf(data: unknown, message: unknown): string {
  const at = new Date(textAt(data, "trace", "completedAt") || textAt(message, "timestamp"));
  return Number.isNaN(at.getTime()) ? "just now" : localTime(at);
}

function section(text: string): object {
  return { type: "section", text: mrkdwnObject(text) };
}

function fieldsOf(details: readonly Detail[]): object {
  const fields = details.map(({ name, value }) => mrkdwnObject(`*${mrkdwn(name) || "–"}*\n${mrkdwn(value)}`));
  return { type: "section", fields };
}

/** Addresses and names in the text stay text. */
function mrkdwnObject(text: string): object {
  return { type: "mrkdwn", text, verbatim: true };
}
