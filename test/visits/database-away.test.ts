import { expect, onTestFinished, test } from "vitest";
import { type CutOff, cutOff } from "../support/cut-off.ts";
import { drained } from "../support/drained.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { eventually, type Service, startService } from "../support/start-service.ts";
import { formAction, newVisitor } from "../support/visitor.ts";
import { type MadeWorkflow, makeWorkflow } from "../support/workflows.ts";

/*
 * A whole service loses its connection to the database. Visitors go on, and callers of the API are told to come back.
 * Afterwards, everything that visitors did is stored.
 */

/** Starts two processes: one that keeps the database, for looking up results, and one that can be cut off. */
async function startCutOff(): Promise<{
  readonly api: RestApi;
  readonly service: Service;
  readonly way: CutOff;
}> {
  const observer = await startService();
  onTestFinished(() => observer.stop());
  const way = await cutOff(observer.env.DATABASE_URL ?? "");
  onTestFinished(() => way.cut());
  const service = await startService({ beside: observer, env: { DATABASE_URL: way.url } });
  onTestFinished(() => service.stop());
  return { api: restApi(observer.baseUrl, observer.credentials.accessToken), service, way };
}

/** A PIN, a form, a condition, a choice, and a redirect. */
function makeJourney(api: RestApi): Promise<MadeWorkflow> {
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

/** Makes one visitor's whole journey. Returns the address at its end. */
async function travel({ port }: Service, { shortlink }: MadeWorkflow, email: string): Promise<string> {
  const guest = newVisitor(port, { "accept-language": `en, x-${email.split("@")[0]}` });
  const pin = await guest.get(`/${shortlink}?for=${email}`);
  const form = await guest.get((await guest.post(formAction(pin), { password: "4711" })).location);
  const choice = await guest.get((await guest.post(formAction(form), { "field-mail": email })).location);
  return (await guest.post(formAction(choice), { button: "shop" })).location;
}

async function readiness({ baseUrl }: Service): Promise<{ readonly status: number; readonly json: object }> {
  const answer = await fetch(`${baseUrl}/health/ready`);
  return { status: answer.status, json: (await answer.json()) as object }; // the port's own
}

interface Listed {
  readonly destination: string;
  readonly traces: readonly { readonly stepAction: string }[];
  readonly visitor: { readonly email: string };
}

test("while the database is away, visitors finish their visits and callers are told to retry, and afterwards each visit is stored once", async () => {
  const { api, service, way } = await startCutOff();
  const link = await makeJourney(api);
  // From here on, the link is in memory.
  expect(await travel(service, link, "early@example.com")).toBe("https://example.com/?for=early@example.com");
  expect(await readiness(service)).toEqual({ status: 200, json: { status: "ok" } });

  await way.cut();
  const down = { status: 200, json: { status: "degraded", failed: ["database"] } };
  await eventually(
    () => readiness(service),
    (seen) => JSON.stringify(seen) === JSON.stringify(down),
  );
  const emails = Array.from({ length: 30 }, (_, n) => `late${n}@example.com`);
  const ends = await Promise.all(emails.map((email) => travel(service, link, email)));
  expect(ends).toEqual(emails.map((email) => `https://example.com/?for=${email}`));
  const refused = await fetch(`${service.baseUrl}/v1/links`, {
    headers: { authorization: `Bearer ${service.credentials.accessToken}` },
  });
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
  await refused.body?.cancel();

  await way.mend();
  await drained(service);
  const { json } = await api.call<{ json: { events: Listed[] } }>(
    "GET",
    `/v1/events?linkId=${link.linkId}&include=traces,visitor&pageSize=100`,
  );
  const all = ["early@example.com", ...emails];
  expect(new Set(json.events.map(({ visitor }) => visitor.email))).toEqual(new Set(all));
  expect(json.events).toHaveLength(all.length);
  for (const { destination, traces, visitor } of json.events) {
    expect(destination).toBe(`https://example.com/?for=${visitor.email}`);
    expect(traces.map(({ stepAction }) => stepAction.replace("EVENT_ACTION_", ""))).toEqual([
      "LINK_VISIT",
      "PASSWORD_VERIFY",
      "FORM_SUBMIT",
      "DEVICE_ACTOR_CONDITION",
      "MULTI_LINK",
      "CLIENT_REDIRECT",
    ]);
  }
}, 120_000);
