import type { RestApi } from "./rest-api.ts";
import { formAction, newVisitor } from "./visitor.ts";
import { type MadeWorkflow, makeWorkflow } from "./workflows.ts";

/** Makes a link with a PIN, a form, a condition, a choice, and a redirect. */
export function makeLongJourney(api: RestApi): Promise<MadeWorkflow> {
  return makeWorkflow(api, "pin", {
    pin: {
      action: "PASSWORD_VERIFY",
      payload: { password: { title: "PIN", password: "4711" } },
      next: "form",
    },
    form: {
      action: "FORM_SUBMIT",
      payload: {
        form: {
          formTitle: "Tell us",
          formFields: [{ id: "mail", key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL" }],
        },
      },
      next: "day",
    },
    day: {
      action: "DEVICE_ACTOR_CONDITION",
      payload: {
        deviceActorCondition: { options: [{ name: "People", value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN" }] },
      },
      next: { People: "choice" },
    },
    choice: {
      action: "MULTI_LINK",
      payload: { multiLink: { title: "Where to?", buttons: [{ id: "shop", label: "Shop" }] } },
      next: { shop: "redirect" },
    },
  });
}

/** The traces that the journey leaves, in their order. */
export const longJourney = [
  "LINK_VISIT",
  "PASSWORD_VERIFY",
  "FORM_SUBMIT",
  "DEVICE_ACTOR_CONDITION",
  "MULTI_LINK",
  "CLIENT_REDIRECT",
] as const;

/** Makes one visitor's whole journey. Returns the address at its end, which is `endOf` when all went well. */
export async function travel(port: number, { shortlink }: MadeWorkflow, email: string): Promise<string> {
  const guest = newVisitor(port, { "accept-language": `en, x-${email.split("@")[0]}` });
  const pin = await guest.get(`/${shortlink}?for=${email}`);
  const form = await guest.get((await guest.post(formAction(pin), { password: "4711" })).location);
  const choice = await guest.get((await guest.post(formAction(form), { "field-mail": email })).location);
  return (await guest.post(formAction(choice), { button: "shop" })).location;
}

export function endOf(email: string): string {
  return `https://example.com/?for=${email}`;
}

interface Listed {
  readonly destination: string;
  readonly traces: readonly { readonly stepAction: string }[];
  readonly visitor?: { readonly email: string };
}

/** Says in words which visitors' journeys are not stored once and in order. Empty when all is well. */
export async function wrongJourneys(
  api: RestApi,
  { linkId }: MadeWorkflow,
  emails: readonly string[],
): Promise<string[]> {
  const events: Listed[] = [];
  for (let pageToken = ""; ; ) {
    const query = new URLSearchParams({ linkId, include: "traces,visitor", pageSize: "200", pageToken });
    const { json } = await api.call<{ json: { events?: Listed[]; nextPageToken?: string } }>(
      "GET",
      `/v1/events?${query}`,
    );
    events.push(...(json.events ?? []));
    pageToken = json.nextPageToken ?? "";
    if (pageToken === "") break;
  }
  const byEmail = Map.groupBy(events, ({ visitor }) => visitor?.email ?? "");
  const wrong = emails.flatMap((email) => {
    const [event, ...others] = byEmail.get(email) ?? [];
    const way = event?.traces.map(({ stepAction }) => stepAction.replace("EVENT_ACTION_", "")).join();
    if (event === undefined) return [`${email} has no event`];
    if (others.length > 0) return [`${email} has ${others.length + 1} events`];
    if (event.destination !== endOf(email)) return [`${email} was sent to ${event.destination}`];
    return way === longJourney.join() ? [] : [`${email} went ${way}`];
  });
  const strangers = [...byEmail.keys()].filter((email) => !emails.includes(email));
  return [...wrong, ...strangers.map((email) => `there is an event of "${email}"`)];
}
