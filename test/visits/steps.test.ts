import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { drained } from "../support/drained.ts";
import { restApi } from "../support/rest-api.ts";
import { startService } from "../support/start-service.ts";
import { formAction, newVisitor, type Visitor, withoutSeal } from "../support/visitor.ts";
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
  readonly savedAttributes: Readonly<Record<string, string>>;
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

/** Waits until a link has `count` events, and returns them with every answer so far, newest first. */
async function eventsOf({ linkId }: MadeWorkflow, count = 1): Promise<readonly VisitEvent[]> {
  await drained(service);
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

function visitorOf({ visitorId }: VisitEvent): Promise<ProfileAnswer> {
  return api.call<ProfileAnswer>("GET", `/v1/visitors/${visitorId}`);
}

const attributesOf = ({ attributes }: ProfileAnswer) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value]));

let visitors = 0;

/** A new browser, with a user agent of its own and without a cookie. */
function visitor(): Visitor {
  visitors += 1;
  return newVisitor(service.port, {
    "user-agent": `Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.${visitors}.0 Safari/537.36`,
  });
}

/** The path of a step in the visit of a page. */
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
      journey: { stepsReached: 5, stepsTotal: 5, completed: true },
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
      completed: false,
    });
    expect([event.destination, event.destinationAction]).toEqual(["", "EVENT_ACTION_UNSPECIFIED"]);
  });

  test("leads to the current step from any other, and answers 404 for steps of another link", async () => {
    const link = await makeWorkflow(api, "password", {
      password: { ...password, next: "choice" },
      choice: multiLink,
    });
    const other = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const early = await guest.get(stepPath(page, link, "choice"));
    const here = withoutSeal(formAction(page));
    expect([early.status, withoutSeal(early.location)]).toEqual([303, here]);
    const skipping = await guest.post(stepPath(page, link, "choice"), { button: "shop" });
    expect([skipping.status, withoutSeal(skipping.location)]).toEqual([303, here]);
    const foreign = formAction(page).replace(link.steps.password ?? "", other.steps.password ?? "");
    expect((await guest.get(foreign)).status).toBe(404);
    expect((await guest.post(foreign, { password: "sesame" })).status).toBe(404);

    const { location } = await guest.post(formAction(page), { password: "sesame" });
    const back = await guest.get(formAction(page));
    expect([back.status, withoutSeal(back.location)]).toEqual([303, withoutSeal(location)]);
    const again = await guest.post(formAction(page), { password: "wrong" });
    expect([again.status, withoutSeal(again.location)]).toEqual([303, withoutSeal(location)]);
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

  test("starts over, as a new visit, after 30 minutes without activity", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}?qr`);
    const { id } = await eventOf(link);
    await database.query("update visits set active_at = now() - interval '30 minutes' where event_id = $1", [
      id,
    ]);
    // Without the seal, the database says when the visitor was last there.
    const path = withoutSeal(formAction(page));
    for (const answer of [await guest.get(path), await guest.post(path, { password: "sesame" })])
      expect([answer.status, answer.location]).toEqual([303, `/${link.shortlink}`]);
  });

  test("falls back when its current step is deleted", async () => {
    const fallback = { fallbackDestination: "https://example.org/closed" };
    const link = await makeWorkflow(api, "password", { password }, fallback);
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}?utm_source=poster`);
    await api.call("DELETE", `/v1/links/${link.linkId}/workflow-steps/${link.steps.password}`);
    const gone = await vi.waitFor(
      async () => {
        const answer = await guest.get(formAction(page));
        expect(answer.status).toBe(302);
        return answer;
      },
      { timeout: 10_000, interval: 100 },
    );
    expect(gone.location).toBe("https://example.org/closed?utm_source=poster");
    const event = await eventOf(link);
    expect(event.journey.completed).toBe(false);
    // Open traces come last.
    expect(actionsOf(event)).toEqual(["LINK_VISIT", "CLIENT_REDIRECT", "PASSWORD_VERIFY"]);
    expect(event.traces[1]?.stepData).toEqual({
      redirect: { destination: gone.location, conversionTracking: false, fallback: true },
    });
    // Terminal outcomes do not change.
    expect(
      (await guest.get(`/${link.shortlink}/s/${link.steps.redirect}?${formAction(page).split("?")[1]}`))
        .location,
    ).toBe(gone.location);
  });

  test("follows an edit of the next step", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const path = `/v1/links/${link.linkId}/workflow-steps`;
    const { workflowStep } = await api.call<{ workflowStep: { id: string } }>("POST", path, {
      eventAction: "EVENT_ACTION_THANK_YOU_PAGE",
      payload: { thankYouPage: { title: "Thank you" } },
    });
    const next = { nextStepId: workflowStep.id };
    await api.call("PUT", `${path}/${link.steps.password}/branches/next/connection`, next);
    // A step that the scan runtime has not yet heard of counts as unknown.
    await vi.waitFor(
      async () =>
        expect(
          (await guest.get(formAction(page).replace(link.steps.password ?? "", workflowStep.id))).status,
        ).toBe(303),
      { timeout: 10_000, interval: 50 },
    );
    const answer = await guest.post(formAction(page), { password: "sesame" });
    expect(answer.location).toContain(`/s/${workflowStep.id}?lbid=`);
    const thanks = await guest.get(answer.location);
    expect([thanks.status, thanks.body.includes("Thank you")]).toEqual([200, true]);
    expect((await guest.get(answer.location)).status).toBe(200);
    const event = await eventOf(link);
    expect(actionsOf(event)).toEqual(["LINK_VISIT", "PASSWORD_VERIFY", "THANK_YOU_PAGE"]);
    expect(event).toMatchObject({
      destination: "",
      destinationAction: "EVENT_ACTION_THANK_YOU_PAGE",
      journey: { completed: true },
    });
  });

  test.each(["", "lbid=", "lbid=short", `lbid=${"A".repeat(23)}`])("refuses %j as a visit", async (query) => {
    const link = await makeWorkflow(api, "password", { password });
    const path = `/${link.shortlink}/s/${link.steps.password}?${query}`;
    expect((await visitor().get(path)).status).toBe(400);
    expect((await visitor().post(path, { password: "sesame" })).status).toBe(400);
  });

  test("of another workspace or never begun is not found", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const path = `/${link.shortlink}/s/${link.steps.password}?lbid=AAAAAAAAAAAAAAAAAAAAAA`;
    expect((await visitor().get(path)).status).toBe(404);
    expect((await visitor().post(path, { password: "sesame" })).status).toBe(404);
    const guest = visitor();
    const own = formAction(await guest.get(`/${link.shortlink}`));
    const nil = own.replace(link.steps.password ?? "", "00000000-0000-0000-0000-000000000000");
    expect((await guest.get(nil)).status).toBe(404);
    expect((await guest.post(nil, { password: "sesame" })).status).toBe(404);
  });

  test("takes GET, HEAD and POST for its steps, and forms only", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const path = formAction(await guest.get(`/${link.shortlink}`));
    const head = await guest.head(path);
    expect([head.status, head.body]).toEqual([200, ""]);
    const put = await fetch(`${service.baseUrl}${path}`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
    const json = await guest.post(path, { password: "sesame" }, { "content-type": "application/json" });
    expect(json.status).toBe(400);
    const long = await guest
      .post(path, { password: "x".repeat(2 * 1024 * 1024) })
      .catch(() => ({ status: 413 }));
    expect(long.status).toBe(413);
  });
});

describe("a password", () => {
  test("is refused after five wrong tries of a visit and address, even if it is right", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const path = formAction(await guest.get(`/${link.shortlink}`));
    for (let tries = 0; tries < 5; tries++)
      expect((await guest.post(path, { password: `no${tries}` })).status).toBe(401);
    const blocked = await guest.post(path, { password: "sesame" });
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers["retry-after"])).toBeGreaterThan(800);
    expect(Number(blocked.headers["retry-after"])).toBeLessThanOrEqual(900);
    // Fifteen minutes later.
    await database.query(
      `update password_attempts set tried_at = (select array_agg(at - interval '15 minutes') from unnest(tried_at) as at)
      where step_id = $1`,
      [link.steps.password],
    );
    expect((await guest.post(path, { password: "sesame" })).status).toBe(302);
  });

  test("counts each try once, even for simultaneous tries", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const path = formAction(await guest.get(`/${link.shortlink}`));
    await eventOf(link);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => guest.post(path, { password: `no${n}` })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(7).fill(429)]);
  });

  test("keeps its tries until they no longer count, and then the worker deletes them", async () => {
    const tried = async (age: string) => {
      const link = await makeWorkflow(api, "password", { password });
      const guest = visitor();
      await guest.post(formAction(await guest.get(`/${link.shortlink}`)), { password: "no" });
      await database.query(
        `update password_attempts set tried_at = (select array_agg(at - $2::interval) from unnest(tried_at) as at)
        where step_id = $1`,
        [link.steps.password, age],
      );
      return link.steps.password;
    };
    const steps = [await tried("121 minutes"), await tried("110 minutes")];
    const left = async () => {
      const { rows } = await database.query<{ step_id: string }>(
        "select step_id from password_attempts where step_id = any($1::uuid[])",
        [steps],
      );
      return rows.map(({ step_id }) => step_id);
    };
    expect(await left()).toHaveLength(2);
    await database.query("select graphile_worker.add_job('delete-expired')");
    await vi.waitFor(async () => expect(await left()).toEqual([steps[1]]), { timeout: 20_000, interval: 50 });
  });

  test("occurs in no page and no trace, and a wrong one leaves the trace open", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const again = await guest.post(formAction(page), { password: "a-wrong-guess" });
    expect(page.body + again.body).not.toContain("sesame");
    expect(again.body).not.toContain("a-wrong-guess");
    const event = await eventOf(link);
    const trace = event.traces[1];
    expect(trace).not.toHaveProperty("completedAt");
    expect(trace?.stepData).toEqual({
      password: { title: "Members only", description: "", validated: false },
    });
  });
});

describe("a form", () => {
  const full = { "field-mail": "ada@example.com", "field-stars": "5", "field-plan": "basic" };

  test("comes back with the entered answers and a message at each fault", async () => {
    const link = await makeWorkflow(api, "form", { form });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const again = await guest.post(formAction(page), {
      "field-mail": "ada@",
      "field-stars": "9",
      "field-plan": "gold",
    });
    expect(again.status).toBe(422);
    expect(again.body).toContain("ada@");
    expect(again.body.match(/class="fault"/g)).toHaveLength(3);
    const empty = await guest.post(formAction(page), {});
    expect(empty.status).toBe(422);
    expect((await guest.post(formAction(page), full)).status).toBe(302);
  });

  test("asks for a yes or no with one box, which must be checked where it is required", async () => {
    const consent = {
      action: "FORM_SUBMIT",
      payload: {
        form: {
          formTitle: "Terms",
          formFields: [
            { id: "terms", key: "terms", label: "I agree", type: "FORM_FIELD_TYPE_CHECKBOX", required: true },
            { id: "news", key: "news", label: "Write to me", type: "FORM_FIELD_TYPE_CHECKBOX" },
          ],
        },
      },
    };
    const link = await makeWorkflow(api, "consent", { consent });
    const { issues } = await api.call<{ issues: { message: string }[] }>(
      "GET",
      `/v1/links/${link.linkId}/workflow-steps/validate`,
    );
    expect(issues.map(({ message }) => message).join()).not.toContain("options");
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    expect(page.body.match(/<input type="checkbox"[^>]* value="true"/g)).toHaveLength(2);
    expect((await guest.post(formAction(page), { "field-news": "true" })).status).toBe(422);
    await guest.post(formAction(page), { "field-terms": "true" });
    const event = await eventOf(link);
    expect((await visitorOf(event)).attributes).toMatchObject([
      { key: "news", type: "VISITOR_ATTRIBUTE_TYPE_BOOLEAN", value: "false", boolValue: false },
      { key: "terms", type: "VISITOR_ATTRIBUTE_TYPE_BOOLEAN", value: "true", boolValue: true },
    ]);
  });

  test("that is skipped saves nothing", async () => {
    const link = await makeWorkflow(api, "form", { form });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    expect((await guest.post(formAction(page), { ...full, skip: "1" })).status).toBe(302);
    const event = await eventOf(link);
    expect(event.traces[1]?.stepData.form).toMatchObject({
      action: "SKIPPED",
      skipped: true,
      skipMethod: "BUTTON",
      submittedFields: 0,
    });
    expect(attributesOf(await visitorOf(event))).toEqual({});
  });

  test("merges an anonymous visitor into the profile with the same e-mail", async () => {
    const link = await makeWorkflow(api, "form", { form });
    const email = `merge-${link.shortlink.toLowerCase()}@example.com`;
    const [laptop, phone] = [visitor(), visitor()];
    for (const guest of [laptop, phone]) {
      const page = await guest.get(`/${link.shortlink}`);
      expect((await guest.post(formAction(page), { ...full, "field-mail": email })).status).toBe(302);
    }
    const events = await eventsOf(link, 2);
    expect(new Set(events.map(({ visitorId }) => visitorId)).size).toBe(1);
  });

  test("at level NONE stores no answers", async () => {
    const { rows } = await database.query("select link_setting_id as id from workspaces");
    const setting = rows[0]?.id;
    const link = await makeWorkflow(api, "form", { form });
    await api.call("PUT", `/v1/settings/link-setting/${setting}`, { dataCollection: "DATA_COLLECTION_NONE" });
    try {
      const page = await vi.waitFor(
        async () => {
          const guest = visitor();
          const answer = await guest.get(`/${link.shortlink}`);
          expect(guest.cookies.size).toBe(0);
          return { guest, answer };
        },
        { timeout: 10_000, interval: 50 },
      );
      const path = formAction(page.answer);
      expect((await page.guest.post(path, full, { origin: "" })).status).toBe(403);
      expect((await page.guest.post(path, full)).status).toBe(302);
      await drained(service);
      const lbid = new URLSearchParams(path.split("?")[1]).get("lbid") ?? "";
      const id = Buffer.from(lbid, "base64url").toString("hex");
      const found = await database.query(
        "select data from visit_traces where replace(event_id::text, '-', '') = $1",
        [id],
      );
      expect(found.rows).toHaveLength(3);
      expect(JSON.stringify(found.rows)).not.toContain("ada@example.com");
      const event = await database.query(
        "select visitor_id from events where replace(id::text, '-', '') = $1",
        [id],
      );
      expect(event.rows).toEqual([{ visitor_id: null }]);
    } finally {
      await api.call("PUT", `/v1/settings/link-setting/${setting}`, {
        dataCollection: "DATA_COLLECTION_BASIC",
      });
    }
  });
});

describe("a post", () => {
  test("from a page of another host is refused, and so is one from another device", async () => {
    const link = await makeWorkflow(api, "password", { password });
    const [guest, other] = [visitor(), visitor()];
    const path = formAction(await guest.get(`/${link.shortlink}`));
    await other.get(`/${link.shortlink}`);
    await eventsOf(link, 2);
    const body = { password: "sesame" };
    expect((await guest.post(path, body, { origin: "https://evil.example" })).status).toBe(403);
    expect((await guest.post(path, body, { origin: "null" })).status).toBe(403);
    expect((await other.post(path, body)).status).toBe(403);
    expect((await visitor().post(path, body, { origin: "https://evil.example" })).status).toBe(403);
    expect((await guest.post(path, body)).status).toBe(302);
  });
});

describe("a message page", () => {
  test("continues by its button", async () => {
    const message = {
      action: "MESSAGE_PAGE",
      payload: { messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
      next: "redirect",
    };
    const link = await makeWorkflow(api, "message", { message });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    expect(page.body).toContain("Continue");
    expect((await guest.post(formAction(page))).status).toBe(302);
    const event = await eventOf(link);
    expect(event.traces[1]?.stepData.messagePage).toEqual({
      title: "Hello",
      navigationType: "BUTTON",
      outcome: "BUTTON",
    });
  });

  test("continues by itself when its time is over, and not before", async () => {
    const message = {
      action: "MESSAGE_PAGE",
      payload: {
        messagePage: {
          title: "Wait",
          navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER",
          timerSeconds: 3,
        },
      },
      next: "redirect",
    };
    const link = await makeWorkflow(api, "message", { message });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const [seconds, url = ""] = String(page.headers.refresh).split(";url=");
    expect(seconds).toBe("3");
    const early = await guest.get(url);
    expect(early.status).toBe(200);
    expect(Number(String(early.headers.refresh).split(";")[0])).toBeLessThanOrEqual(3);
    await vi.waitFor(async () => expect((await guest.get(url)).status).toBe(302), {
      timeout: 20_000,
      interval: 100,
    });
    const event = await eventOf(link);
    expect(event.traces[1]?.stepData.messagePage).toMatchObject({
      navigationType: "TIMER",
      outcome: "TIMER",
    });
  });
});

test("a tap on a button is captured by label and id, with the link's data, and the first value is kept", async () => {
  const choose = {
    action: "MULTI_LINK",
    payload: {
      multiLink: {
        buttons: [
          { id: "red", label: "Red & hot" },
          { id: "blue", label: "Blue" },
        ],
      },
    },
    capture: {
      enabled: true,
      writes: [
        { key: "color", value: "{{choice.label}} ({{choice.id}})", type: "VISITOR_ATTRIBUTE_TYPE_ENUM" },
        { key: "first", value: "{{choice.id}}", mode: "ATTRIBUTE_WRITE_MODE_SET_ONCE" },
        { key: "none", value: "{{link.metadata.none}}" },
      ],
    },
    next: { red: "choose2", blue: "choose2" },
  };
  const choose2 = { ...choose, next: {} };
  const link = await makeWorkflow(api, "choose", { choose, choose2 });
  const guest = visitor();
  const page = await guest.get(`/${link.shortlink}`);
  const second = await guest.post(formAction(page), { button: "red" });
  await guest.post(formAction(await guest.get(second.location)), { button: "blue" });
  const event = await eventOf(link);
  const [, one, other] = event.traces.map(({ savedAttributes }) => savedAttributes);
  expect([one, other]).toEqual([
    { color: "Red & hot (red)", first: "red" },
    { color: "Blue (blue)", first: "blue" },
  ]);
  expect(attributesOf(await visitorOf(event))).toEqual({ color: "Blue (blue)", first: "red" });
});

describe("an exit with a page", () => {
  test("redirects by a social link, and adds the press to its trace", async () => {
    const social = {
      action: "SOCIAL_LINKS_PAGE",
      payload: {
        socialLinks: {
          title: "Follow us",
          links: [
            { id: "ig", url: "https://instagram.com/signpost" },
            { id: "site", url: "https://example.net" },
          ],
        },
      },
      capture: {
        enabled: true,
        writes: [
          { key: "stage", value: "social" },
          { key: "since", value: "{{now}}", type: "VISITOR_ATTRIBUTE_TYPE_DATE" },
        ],
      },
    };
    const link = await makeWorkflow(api, "social", { social });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const shown = await eventOf(link);
    expect(shown.journey.completed).toBe(true);
    const since = shown.traces[1]?.savedAttributes.since;
    expect(since).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(shown.traces[1]?.savedAttributes).toEqual({ stage: "social", since });
    const pressed = await guest.post(formAction(page), { link: "ig" });
    expect([pressed.status, pressed.location]).toEqual([302, "https://instagram.com/signpost"]);
    const event = await eventOf(link);
    expect(actionsOf(event)).toEqual(["LINK_VISIT", "SOCIAL_LINKS_PAGE"]);
    expect(event.traces[1]?.stepData.socialLinks).toMatchObject({
      selectedLink: { id: "ig", platform: "instagram" },
    });
    // A press saves nothing more: the step was complete when its page was shown.
    expect(event.traces[1]?.savedAttributes).toEqual({ stage: "social", since });
    expect(attributesOf(await visitorOf(event))).toEqual({ stage: "social", since });
  });

  test("gives a contact card as a vCard 3.0 file", async () => {
    const card = {
      action: "CONTACT_CARD",
      payload: {
        vcard: {
          firstName: "Ada",
          lastName: "Lovelace",
          email: "ada@example.com",
          organization: "Engines; Ltd.",
        },
      },
    };
    const link = await makeWorkflow(api, "card", { card });
    const guest = visitor();
    const page = await guest.get(`/${link.shortlink}`);
    const url = /href="([^"]+card\.vcf[^"]*)"/.exec(page.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const file = await guest.get(url);
    expect([file.status, file.headers["content-type"], file.headers["content-disposition"]]).toEqual([
      200,
      "text/vcard; charset=utf-8",
      expect.stringContaining("Ada-Lovelace.vcf"),
    ]);
    expect(file.body).toMatch(/^BEGIN:VCARD\r\nVERSION:3\.0\r\n/);
    expect(file.body).toContain("ORG:Engines\\; Ltd.");
    expect((await visitor().get(url.replace(/lbid=.*/, "lbid=AAAAAAAAAAAAAAAAAAAAAA"))).status).toBe(404);
  });
});
