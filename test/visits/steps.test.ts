import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { restApi } from "../support/rest-api.ts";
import { startService } from "../support/start-service.ts";
import { formAction, newVisitor, type Visitor } from "../support/visitor.ts";
import { type MadeWorkflow, makeWorkflow, type StepPlan } from "../support/workflows.ts";

const service = await startService();
const api = restApi(service.baseUrl, service.credentials.accessToken);
const database = new pg.Client(service.env.DATABASE_URL);
await database.connect();
afterAll(async () => {
  await database.end();
  await service.stop();
});

interface Trace {
  readonly stepAction: string;
  readonly stepData: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly completedAt?: string;
}

interface VisitEvent {
  readonly id: string;
  readonly visitorId: string;
  readonly destination: string;
  readonly destinationAction: string;
  readonly journey: Readonly<Record<string, unknown>>;
  readonly traces: readonly Trace[];
}

/** The events of a link, newest first, once there are so many. */
function eventsOf({ linkId }: MadeWorkflow, count = 1): Promise<readonly VisitEvent[]> {
  return vi.waitFor(
    async () => {
      const path = `/v1/events?linkId=${linkId}&include=journey,traces`;
      const { json } = await api.call<{ json: { events: VisitEvent[] } }>("GET", path);
      expect(json.events).toHaveLength(count);
      return json.events;
    },
    { timeout: 20_000, interval: 50 },
  );
}

async function eventOf(link: MadeWorkflow): Promise<VisitEvent> {
  const [event] = await eventsOf(link);
  if (event === undefined) throw new Error("eventsOf has just counted it");
  return event;
}

function actionsOf({ traces }: VisitEvent): string[] {
  return traces.map(({ stepAction }) => stepAction.replace("EVENT_ACTION_", ""));
}

interface ProfileAnswer {
  readonly email: string;
  readonly phone: string;
  readonly attributes: readonly { readonly key: string; readonly type: string; readonly value: string }[];
}

async function visitorOf({ visitorId }: VisitEvent): Promise<ProfileAnswer> {
  return (await api.call<{ visitor: ProfileAnswer }>("GET", `/v1/visitors/${visitorId}`)).visitor;
}

const attributesOf = ({ attributes }: ProfileAnswer) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value]));

function visitor(headers: Readonly<Record<string, string>> = {}): Visitor {
  return newVisitor(service.port, headers);
}

/** The path of a step in the visit that a page belongs to. */
function stepPath(page: { readonly body: string }, link: MadeWorkflow, step: string): string {
  const query = formAction(page).split("?")[1] ?? "";
  return `/${link.shortlink}/s/${link.steps[step]}?${query}`;
}

const password: StepPlan = {
  action: "PASSWORD_VERIFY",
  payload: { password: { title: "Members only", password: "sesame" } },
  next: "redirect",
};

const form: StepPlan = {
  action: "FORM_SUBMIT",
  payload: {
    form: {
      formTitle: "Tell us",
      formFields: [
        { id: "mail", key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL", required: true },
        { id: "stars", key: "stars", label: "Stars", type: "FORM_FIELD_TYPE_RATING" },
        {
          id: "plan",
          key: "plan",
          label: "Plan",
          type: "FORM_FIELD_TYPE_RADIO",
          options: [
            { label: "Basic", value: "basic" },
            { label: "Pro", value: "pro" },
          ],
        },
      ],
      skipForm: true,
    },
  },
  next: "redirect",
};

const multiLink: StepPlan = {
  action: "MULTI_LINK",
  payload: {
    multiLink: {
      title: "Where to?",
      buttons: [
        { id: "shop", label: "Shop" },
        { id: "news", label: "News" },
      ],
    },
  },
  next: { shop: "redirect" },
};

describe("a visit with pages", () => {
  test("goes from scan to identified visitor, with a trace for every step, the journey and one event", async () => {
    const link = await makeWorkflow(api, "password", {
      password: { ...password, next: {} },
      form: { ...form, next: {} },
      country: {
        action: "COUNTRY_CONDITION",
        payload: { countryCondition: { countries: [{ countryCode: "DE" }] } },
      },
      choice: multiLink,
    });
    const path = `/v1/links/${link.linkId}/workflow-steps`;
    const connect = (from: string, branch: string, to: string) =>
      api.call("PUT", `${path}/${link.steps[from]}/branches/${branch}/connection`, {
        nextStepId: link.steps[to],
      });
    await connect("password", "next", "form");
    await connect("form", "next", "country");
    await connect("country", "else", "choice");

    const guest = visitor();
    const first = await guest.get(`/${link.shortlink}?qr&utm_source=poster`);
    expect([first.status, first.headers["x-robots-tag"], first.headers["cache-control"]]).toEqual([
      200,
      "noindex",
      "private, no-store",
    ]);
    const wrong = await guest.post(formAction(first), { password: "open" });
    expect(wrong.status).toBe(401);
    const right = await guest.post(formAction(first), { password: "sesame" });
    expect(right.status).toBe(303);
    const formPage = await guest.get(right.location);
    const email = `Scan-${link.shortlink}@Example.com`;
    const submitted = await guest.post(formAction(formPage), {
      "field-mail": email,
      "field-stars": "4",
      "field-plan": "pro",
    });
    expect(submitted.status).toBe(303);
    const choicePage = await guest.get(submitted.location);
    const done = await guest.post(formAction(choicePage), { button: "shop" });
    expect([done.status, done.location]).toEqual([302, "https://example.com/?utm_source=poster"]);

    const event = await eventOf(link);
    expect(actionsOf(event)).toEqual([
      "LINK_VISIT",
      "PASSWORD_VERIFY",
      "FORM_SUBMIT",
      "COUNTRY_CONDITION",
      "MULTI_LINK",
      "CLIENT_REDIRECT",
    ]);
    expect(event.traces.every(({ completedAt }) => completedAt !== undefined)).toBe(true);
    const [, passwordTrace, formTrace, , choiceTrace, redirectTrace] = event.traces;
    expect(passwordTrace?.stepData).toEqual({
      password: { title: "Members only", description: "", validated: true },
    });
    expect(JSON.stringify(event)).not.toContain("sesame");
    expect(formTrace?.stepData.form).toMatchObject({
      action: "SUBMITTED",
      skipped: false,
      submittedFields: 3,
    });
    expect(choiceTrace?.stepData.multiLink).toMatchObject({ selectedButton: { id: "shop", label: "Shop" } });
    expect(redirectTrace?.stepData.redirect).toMatchObject({ fallback: false });
    expect(event).toMatchObject({
      destination: "https://example.com/?utm_source=poster",
      destinationAction: "EVENT_ACTION_CLIENT_REDIRECT",
      journey: { stepsReached: 5, stepsTotal: 5, outcome: "JOURNEY_OUTCOME_COMPLETED" },
    });
    const profile = await visitorOf(event);
    expect(profile.email).toBe(email.toLowerCase());
    expect(attributesOf(profile)).toMatchObject({ stars: "4", plan: "pro" });
  });

  test("is one event with one trace for each step, however often its pages are opened", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const path = formAction(page);
    for (let times = 0; times < 3; times++) expect((await guest.get(path)).status).toBe(200);
    const event = await eventOf(link);
    expect(actionsOf(event)).toEqual(["LINK_VISIT", "PASSWORD_VERIFY"]);
    expect(event.journey).toMatchObject({
      stepsReached: 2,
      stepsTotal: 3,
      outcome: "JOURNEY_OUTCOME_IN_PROGRESS",
    });
    expect([event.destination, event.destinationAction]).toEqual(["", "EVENT_ACTION_UNSPECIFIED"]);
  });

  test("leads to the current step from any other, and knows no step of another link", async () => {
    const link = await makeWorkflow(api, "password", {
      password: { ...password, next: "choice" },
      choice: multiLink,
    });
    const other = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const early = await guest.get(stepPath(page, link, "choice"));
    expect([early.status, early.location]).toEqual([303, formAction(page)]);
    const skipping = await guest.post(stepPath(page, link, "choice"), { button: "shop" });
    expect([skipping.status, skipping.location]).toEqual([303, formAction(page)]);
    const foreign = formAction(page).replace(link.steps.password ?? "", other.steps.password ?? "");
    expect((await guest.get(foreign)).status).toBe(404);
    expect((await guest.post(foreign, { password: "sesame" })).status).toBe(404);

    const { location } = await guest.post(formAction(page), { password: "sesame" });
    const back = await guest.get(formAction(page));
    expect([back.status, back.location]).toEqual([303, location]);
    const again = await guest.post(formAction(page), { password: "wrong" });
    expect([again.status, again.location]).toEqual([303, location]);
  });

  test("lets two tabs answer a step once", async () => {
    const link = await makeWorkflow(api, "choice", {
      choice: { ...multiLink, next: { shop: "redirect", news: "redirect" } },
    });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    await eventOf(link);
    const answers = await Promise.all(
      ["shop", "news", "shop", "news"].map((button) => guest.post(formAction(page), { button })),
    );
    expect(answers.map(({ status }) => status)).toEqual([302, 302, 302, 302]);
    const event = await eventOf(link);
    expect(actionsOf(event)).toEqual(["LINK_VISIT", "MULTI_LINK", "CLIENT_REDIRECT"]);
  });

  test("starts over, as a new visit, when nobody was there for 30 minutes", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}?qr`);
    const { id } = await eventOf(link);
    await database.query("update visits set active_at = now() - interval '30 minutes' where event_id = $1", [
      id,
    ]);
    for (const answer of [
      await guest.get(formAction(page)),
      await guest.post(formAction(page), { password: "sesame" }),
    ])
      expect([answer.status, answer.location]).toEqual([303, `/${link.shortlink}`]);
  });

  test("falls back when its step was deleted, and follows an edit of what comes next", async () => {
    const fallback = { fallbackDestination: "https://example.org/closed" };
    const link = await makeWorkflow(api, "password", { password, choice: multiLink }, fallback);
    const [early, late] = [visitor(), visitor()];
    const [earlyPage, latePage] = [
      await early.get(`/${link.shortlink}`),
      await late.get(`/${link.shortlink}`),
    ];
    const path = `/v1/links/${link.linkId}/workflow-steps`;
    await api.call("PUT", `${path}/${link.steps.password}/branches/next/connection`, {
      nextStepId: link.steps.choice,
    });
    await vi
      .waitFor(
        async () => {
          const answer = await early.post(formAction(earlyPage), { password: "sesame" });
          expect(answer.location).toContain(link.steps.choice);
        },
        { timeout: 5_000, interval: 200 },
      )
      .catch(() => {});
    await api.call("DELETE", `${path}/${link.steps.password}`);
    await vi.waitFor(
      async () => {
        const gone = await late.get(formAction(latePage));
        expect([gone.status, gone.location]).toEqual([302, "https://example.org/closed"]);
      },
      { timeout: 10_000, interval: 100 },
    );
    const events = await eventsOf(link, 2);
    const outcomes = events.map(({ journey }) => journey.outcome).sort();
    expect(outcomes).toContain("JOURNEY_OUTCOME_FALLBACK");
  });
});
