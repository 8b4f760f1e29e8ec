import { Code } from "@connectrpc/connect";
import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { GoogleFormsIntegrationStatus } from "../../../gen/signpost/v1/google_forms_integration_pb.js";
import { GoogleFormsIntegrationsService } from "../../../gen/signpost/v1/google_forms_integrations_service_pb.js";
import { answered } from "../../../test/support/google-responses.ts";
import { signInAs } from "../../../test/support/sign-in.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { testTokenBox } from "../../../test/support/test-google.ts";
import { deleteWorkspace } from "../../db/end-workspaces.ts";
import { beginRunOf } from "../../integrations/google-forms/runs.ts";
import { sync as syncRun } from "../../integrations/google-forms/sync.ts";
import { fetchFormResponses } from "../../jobs/integrations/fetch-form-responses.ts";
import { revokeGoogleGrant } from "../../jobs/integrations/revoke-grant.ts";
import { purgeWorkspace } from "../../jobs/purge/purge-workspaces.ts";
import { jobCalls } from "../../jobs/queue.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import { lbidOfEvent } from "../../model/visitors/lbid.ts";

const api = await startApi();
const { db, clock, google } = api;
const server = await google.server();
const jobDeps = { db, now: clock.now, google, tokenBox: testTokenBox() };

const path = "/v1/google-forms-integrations";
let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
let workspaceId: string;
let account: string;
let made = 0;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  ({ rest, workspaceId } = workspace);
  // A run fetches for whoever is connected.
  await db.deleteFrom("google_forms_integrations").execute();
  made += 1;
  account = `owner-${made}@example.com`;
  server.asked.length = 0;
  server.filters.length = 0;
  server.onListing = async () => {};
});

const client = () => workspace.client(GoogleFormsIntegrationsService);
const get = async () => (await rest("GET", path)).json.integration;
const poll = () => fetchFormResponses(jobDeps);

async function authorized(scopes?: readonly string[], by = rest) {
  const { json, status } = await by("GET", `${path}/oauth-url`);
  expect(status).toBe(200);
  return server.allow(json.oauthUrl, account, scopes);
}

async function connect() {
  const { status, json, text } = await rest("POST", `${path}/oauth/complete`, await authorized());
  expect(status, text).toBe(200);
  return json.integration;
}

/** Runs the revocations that are queued, as the worker does. */
async function revocations(run: (order: QueuedJobs["revoke-google-grant"]) => Promise<void>): Promise<void> {
  const { rows } = await sql<{ payload: QueuedJobs["revoke-google-grant"] }>`
    select j.payload from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = 'revoke-google-grant' and j.payload ->> 'ownerId' = ${workspaceId}
    order by j.id`.execute(db);
  for (const { payload } of rows) await run(payload);
}

const question = (questionId: string, title: string, kind: object = { textQuestion: {} }) => ({
  title,
  questionItem: { question: { questionId, ...kind } },
});

/** A form of the account, with the questions of every kind, and a link that leads to it. */
async function addForm(owner = account) {
  made += 1;
  const formId = `form-of-tests-${made}`;
  const publishedId = `published-form-${made}`;
  const items = [
    question("1a", "Your e-mail"),
    question("2b", "Company size", { choiceQuestion: { type: "RADIO" } }),
    question("3c", "How likely?", { scaleQuestion: { low: 0, high: 10 } }),
    question("4d", "Start", { dateQuestion: { includeYear: true } }),
    question("5e", "Visit"),
    {
      title: "Rate",
      questionGroupItem: { questions: [{ questionId: "6f", rowQuestion: { title: "Food" } }] },
    },
    question("70", "Company size"),
    { title: "Only a picture", imageItem: {} },
  ];
  const form = { owner, publishedId, items, responses: [] };
  server.forms.set(formId, form);
  const destination = `https://docs.google.com/forms/d/${formId}/viewform?usp=pp_url`;
  const { json } = await rest("POST", "/v1/links", { destination, name: "Survey" });
  return { formId, publishedId, destination, linkId: json.link.id as string, form };
}

type AddedForm = Awaited<ReturnType<typeof addForm>>;

function respond(
  { formId }: Pick<AddedForm, "formId">,
  responseId: string,
  answers: Readonly<Record<string, object>>,
  lastSubmittedTime = "2025-02-03T10:00:00.5Z",
) {
  const responses = server.forms.get(formId)?.responses ?? [];
  const place = responses.findIndex((response) => response.responseId === responseId);
  const response = { responseId, createTime: "2025-02-03T10:00:00.5Z", lastSubmittedTime, answers };
  if (place < 0) responses.unshift(response);
  else responses[place] = response;
}

async function visitor(email: string): Promise<string> {
  const { json } = await rest("POST", "/v1/visitor/identify", { visitor: { $email: email } });
  return json.visitor.id;
}

async function attributesOf(id: string): Promise<Record<string, unknown>> {
  const { attributes } = (await rest("GET", `/v1/visitors/${id}`)).json;
  return Object.fromEntries(
    attributes.map(({ key, value, type }: Record<string, string>) => [
      key,
      `${value} ${type?.replace("VISITOR_ATTRIBUTE_TYPE_", "")}`,
    ]),
  );
}

async function sync() {
  const { status, json, text } = await rest("POST", `${path}/sync`, {});
  expect(status, text).toBe(200);
  return [json.responsesSynced, json.visitorsEnriched];
}

test("without a connection there is no integration, and nothing to change, fetch or delete", async () => {
  expect((await rest("GET", path)).json).toEqual({});
  expect((await client().get({})).integration).toBeUndefined();
  const status = GoogleFormsIntegrationStatus.PAUSED;
  for (const [method, route, body] of [
    ["PATCH", path, { status: "GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED" }],
    ["POST", `${path}/sync`, {}],
    ["DELETE", path, undefined],
  ] as const)
    expect((await rest(method, route, body)).json.error.codeType).toBe("NOT_FOUND");
  const refused = { code: Code.NotFound };
  await expect(client().update({ status })).rejects.toMatchObject(refused);
  await expect(client().syncNow({})).rejects.toMatchObject(refused);
  await expect(client().delete({})).rejects.toMatchObject(refused);
});

test("a person connects an account by REST or gRPC, and the second account takes the place of the first", async () => {
  const first = await connect();
  expect(first).toMatchObject({
    workspaceId,
    status: "GOOGLE_FORMS_INTEGRATION_STATUS_ACTIVE",
    googleEmail: account,
    createdBy: "",
    responsesSynced: "0",
    visitorsEnriched: "0",
    lastError: "",
  });
  expect(await get()).toEqual(first);
  const firstAccount = account;
  account = `other-${account}`;
  const member = await signInAs(api, workspace);
  const { oauthUrl } = await member.client(GoogleFormsIntegrationsService).getOAuthURL({});
  const { integration } = await member
    .client(GoogleFormsIntegrationsService)
    .completeOAuth(await server.allow(oauthUrl, account));
  expect(integration).toMatchObject({ googleEmail: account, createdBy: member.memberId });
  expect((await get()).id).not.toBe(first.id);
  await revocations((order) => revokeGoogleGrant(jobDeps, order));
  expect([server.hasGrant(firstAccount), server.hasGrant(account)]).toEqual([false, true]);
  await db.deleteFrom("members").where("id", "=", member.memberId).execute();
  expect((await get()).createdBy).toBe("");
});

test("a code counts only once, from the caller who asked, within ten minutes, and with both permissions", async () => {
  const complete = (body: object, by = rest) => by("POST", `${path}/oauth/complete`, body);
  const refused = async (body: object, field: string, by = rest) => {
    const { status, json } = await complete(body, by);
    expect([status, json.error.codeType]).toEqual([400, "INVALID_STATE"]);
    expect(JSON.stringify(json.error.details)).toContain(`{"field":"${field}"`);
  };
  const given = await authorized();
  const member = await signInAs(api, workspace);
  await refused(given, "state", member.rest);
  await refused(given, "state", (await api.newWorkspace()).rest);
  await refused({ ...given, state: `${given.state.slice(0, -2)}xx` }, "state");
  await refused({ ...given, code: "4/forged" }, "code");
  // The code belongs to the verifier of another state.
  await refused({ ...(await authorized()), state: given.state }, "code");
  await refused(await authorized(["openid", "email"]), "code");
  const late = await authorized();
  clock.advance(600_001);
  await refused(late, "state");
  expect(await get()).toBeUndefined();
  const good = await authorized();
  expect((await complete(good)).status).toBe(200);
  await refused(good, "code");
  expect((await complete({ code: "", state: "" })).json.error.codeType).toBe("INVALID_ARGUMENT");
});

test("while Google is away nothing is connected, and the caller is told to try again", async () => {
  const given = await authorized();
  server.setAway(true);
  const { status, json } = await rest("POST", `${path}/oauth/complete`, given);
  server.setAway(false);
  expect([status, json.error.codeType]).toEqual([503, "UNAVAILABLE"]);
  expect(await get()).toBeUndefined();
});

test("the token is sealed in the database, and neither tokens nor codes are logged", async () => {
  const { code } = await authorized();
  await connect();
  const row = await db
    .selectFrom("google_forms_integrations")
    .select(["id", "refresh_token"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const place = { kind: "google-forms", workspaceId, integrationId: row.id } as const;
  const token = testTokenBox().open(row.refresh_token, place);
  expect(token).toMatch(/^1\/\//);
  expect(row.refresh_token.includes(token)).toBe(false);
  for (const secret of [token, code, server.config.clientSecret]) expect(api.log()).not.toContain(secret);
});

test("forms are found from redirects, once for each link, and others' links are not", async () => {
  const form = await addForm();
  const hidden = await addForm("somebody-else@example.com");
  const publicUrl = `https://docs.google.com/forms/d/e/${form.publishedId}/viewform`;
  const short = "https://forms.gle/AbCdEf";
  const linkTo = async (destination: string) =>
    (await rest("POST", "/v1/links", { destination })).json.link.id;
  const [publicLink, shortLink] = [await linkTo(publicUrl), await linkTo(short)];
  await linkTo("https://docs.google.com/document/d/1234567890abc/edit");
  const gone = await linkTo(form.destination);
  await rest("DELETE", `/v1/links/${gone}`);
  const other = await api.newWorkspace();
  await other.rest("POST", "/v1/links", { destination: form.destination });
  const list = async () => (await rest("GET", `${path}/detected-forms`)).json.forms;
  const at = (formId: string, formUrl: string, linkId: string, accessible: boolean) =>
    expect.objectContaining({ formId, formUrl, linkId, accessible });
  expect(await list()).toEqual([
    at("", short, shortLink, false),
    at("", publicUrl, publicLink, false),
    at(hidden.formId, hidden.destination, hidden.linkId, false),
    at(form.formId, form.destination, form.linkId, false),
  ]);
  await connect();
  await sync();
  // The public address is resolved once the form was read.
  expect(await list()).toEqual([
    at("", short, shortLink, false),
    at(form.formId, publicUrl, publicLink, true),
    at(hidden.formId, hidden.destination, hidden.linkId, false),
    at(form.formId, form.destination, form.linkId, true),
  ]);
  const { forms } = await client().listDetectedForms({});
  expect(forms.at(-1)).toMatchObject({ formId: form.formId, linkName: "Survey", accessible: true });
});

test("answers are matched by lbid, else by e-mail, and are saved by their questions' titles and kinds", async () => {
  const form = await addForm();
  const eventId = await makers.event(api, workspace);
  const { visitor_id: byVisit } = await db
    .selectFrom("events")
    .select("visitor_id")
    .where("id", "=", eventId)
    .executeTakeFirstOrThrow();
  const byEmail = await visitor("ada@example.com");
  const all = {
    ...answered("1a", "Ada@Example.com"),
    ...answered("2b", "10–50"),
    ...answered("3c", "9"),
    ...answered("4d", "2025-03-01"),
    ...answered("6f", "Good"),
    ...answered("70", "a", "b\u0000"),
    ...answered("ff", "of a question that is gone"),
  };
  respond(form, "r1", { ...all, ...answered("5e", lbidOfEvent(eventId)) });
  respond(form, "r2", all);
  respond(form, "r3", answered("1a", "nobody@example.com"));
  respond(form, "r4", answered("5e", lbidOfEvent("00000000-0000-7000-8000-000000000000")));
  await connect();
  expect(await sync()).toEqual(["4", "2"]);
  const saved = {
    your_e_mail: "Ada@Example.com STRING",
    company_size: "10–50 ENUM",
    how_likely: "9 NUMBER",
    start: "2025-03-01 DATE",
    rate_food: "Good ENUM",
    company_size_2: "a, b STRING",
  };
  expect(await attributesOf(byEmail)).toEqual(saved);
  expect(await attributesOf(byVisit ?? "")).toMatchObject(saved);
  expect(await attributesOf(byVisit ?? "")).not.toHaveProperty("visit");
  expect(await get()).toMatchObject({ responsesSynced: "4", visitorsEnriched: "2", lastError: "" });
  expect((await get()).lastSyncedAt).toBeDefined();
  expect(await sync()).toEqual(["0", "0"]);
  expect(await get()).toMatchObject({ responsesSynced: "4", visitorsEnriched: "2" });
});

test("a response never changes an identity, nor a value that is newer than the response", async () => {
  const form = await addForm();
  const id = await visitor("ada@example.com");
  await rest("PATCH", `/v1/visitors/${id}`, { visitor: { company_size: "newer" } });
  const answers = { ...answered("1a", "ada@example.com"), ...answered("2b", "older") };
  respond(form, "r1", { ...answers, ...answered("70", "x".repeat(9_000)) });
  await connect();
  expect(await sync()).toEqual(["1", "1"]);
  const saved = await attributesOf(id);
  expect(saved).toMatchObject({ company_size: "newer STRING", your_e_mail: "ada@example.com STRING" });
  expect(String(saved.company_size_2)).toHaveLength(4_096 + " STRING".length);
  const stored = (await rest("GET", `/v1/visitors/${id}`)).json;
  expect(stored).toMatchObject({ email: "ada@example.com", phone: "", firstName: "" });
});

test("an edited response is applied again and not counted again, and one before the watermark comes late", async () => {
  const form = await addForm();
  const id = await visitor("ada@example.com");
  const answer = (size: string) => ({ ...answered("1a", "ada@example.com"), ...answered("2b", size) });
  respond(form, "r1", answer("1"), "2025-02-03T10:00:00Z");
  respond(form, "r2", answered("1a", "x"), "2025-02-03T10:00:00.000000001Z");
  await connect();
  expect(await sync()).toEqual(["2", "1"]);
  respond(form, "r1", answer("2"), "2025-02-03T10:05:00.123456789Z");
  // It was sent before the newest one, and was not visible then.
  respond(form, "r3", answer("0"), "2025-02-03T09:59:59.9Z");
  expect(await sync()).toEqual(["1", "1"]);
  expect(await attributesOf(id)).toMatchObject({ company_size: "2 ENUM" });
  expect(server.filters).toEqual(["", "timestamp >= 2025-02-03T09:59:00.000Z"]);
  expect(await sync()).toEqual(["0", "0"]);
  expect(await get()).toMatchObject({ responsesSynced: "3", visitorsEnriched: "2" });
});

test("a paused integration is not fetched, and a resumed one is fetched at its next turn", async () => {
  const form = await addForm();
  await visitor("ada@example.com");
  respond(form, "r1", answered("1a", "ada@example.com"));
  await connect();
  const patched = await rest("PATCH", path, { status: "GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED" });
  expect(patched.json.integration.status).toBe("GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED");
  await poll();
  const { status, json } = await rest("POST", `${path}/sync`, {});
  expect([status, json.error.codeType]).toEqual([412, "INTEGRATION_NOT_ACTIVE"]);
  await expect(client().syncNow({})).rejects.toMatchObject({ code: Code.FailedPrecondition });
  expect((await get()).responsesSynced).toBe("0");
  await client().update({ status: GoogleFormsIntegrationStatus.ACTIVE });
  const { updatedAt } = await get();
  expect((await rest("PATCH", path, { status: "GOOGLE_FORMS_INTEGRATION_STATUS_ACTIVE" })).status).toBe(200);
  expect((await get()).updatedAt).toBe(updatedAt);
  await poll();
  expect(await get()).toMatchObject({ responsesSynced: "1", visitorsEnriched: "1" });
});

test.each([
  "GOOGLE_FORMS_INTEGRATION_STATUS_DISCONNECTED",
  "GOOGLE_FORMS_INTEGRATION_STATUS_UNSPECIFIED",
  "GOOGLE_FORMS_INTEGRATION_STATUS_GONE",
  7,
])("the status %j cannot be set, and nothing changes", async (status) => {
  const before = await connect();
  const { status: code, json } = await rest("PATCH", path, { status });
  expect([code, json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
  expect(await get()).toEqual(before);
});

test("forms are fetched every 15 minutes, by their pages, in as many runs as that takes", async () => {
  const form = await addForm();
  const other = await addForm();
  await visitor("ada@example.com");
  for (let number = 0; number < 250; number++)
    respond(form, `r${number}`, answered("1a", number === 7 ? "ada@example.com" : ""));
  respond(other, "r1", answered("1a", "ada@example.com"));
  await connect();
  await fetchFormResponses({ ...jobDeps, questionsMax: 2 });
  expect(await get()).toMatchObject({ responsesSynced: "251", visitorsEnriched: "2" });
  // Each run knows the form anew, and lists one page.
  expect(server.asked.filter((asked) => asked.endsWith(`${form.formId}/responses`))).toHaveLength(3);
  const asked = server.asked.length;
  clock.advance(14 * 60_000);
  await poll();
  expect(server.asked).toHaveLength(asked);
  clock.advance(60_000);
  respond(form, "late", answered("1a", "ada@example.com"), "2025-02-03T11:00:00Z");
  await poll();
  expect(await get()).toMatchObject({ responsesSynced: "252", visitorsEnriched: "3" });
});

test("the form of one workspace, however large, lets the others have their turns", async () => {
  const large = await addForm();
  for (let number = 0; number < 900; number++) respond(large, `r${number}`, {});
  await connect();
  const order: string[] = [];
  const others: string[] = [];
  for (let count = 0; count < 3; count++) {
    workspace = await api.newWorkspace();
    ({ rest, workspaceId } = workspace);
    others.push((await addForm()).formId);
    await connect();
  }
  server.onListing = async (formId) => void order.push(formId);
  await fetchFormResponses({ ...jobDeps, questionsMax: 2 });
  expect(order.filter((formId) => formId === large.formId)).toHaveLength(9);
  const lastOther = Math.max(...others.map((formId) => order.indexOf(formId)));
  expect(order.indexOf(large.formId, lastOther)).toBeGreaterThan(0);
  for (const formId of others) expect(order.indexOf(formId)).toBeGreaterThanOrEqual(0);
});

test("an access token that ends in the middle is renewed, and a listing that Google forgot begins again", async () => {
  const form = await addForm();
  for (let number = 0; number < 150; number++) respond(form, `r${number}`, {});
  await connect();
  server.onListing = async () => {
    server.onListing = async () => {};
    server.endAccess();
  };
  await fetchFormResponses({ ...jobDeps, questionsMax: 3 });
  expect(await get()).toMatchObject({ responsesSynced: "150" });
  clock.advance(900_000);
  for (let number = 150; number < 300; number++) respond(form, `r${number}`, {}, "2025-02-03T12:00:00Z");
  const run = await beginRunOf(db, workspaceId, clock.now());
  if (run === undefined) throw new Error("a run is under way");
  await syncRun({ ...jobDeps, questionsMax: 2 }, run);
  await db
    .updateTable("google_forms")
    .set({ page_token: "forgotten|9" })
    .where("workspace_id", "=", workspaceId)
    .execute();
  expect(await sync()).toEqual(["50", "0"]);
  expect(await get()).toMatchObject({ responsesSynced: "300" });
});

test("a grant that was ended disconnects, until the account is connected again", async () => {
  const form = await addForm();
  await connect();
  server.endGrant(account);
  respond(form, "r1", {});
  await poll();
  expect(await get()).toMatchObject({
    status: "GOOGLE_FORMS_INTEGRATION_STATUS_DISCONNECTED",
    lastError: "Google has ended the access to the account: connect it again.",
  });
  const refused = { code: Code.FailedPrecondition };
  await expect(client().syncNow({})).rejects.toMatchObject(refused);
  for (const status of [GoogleFormsIntegrationStatus.ACTIVE, GoogleFormsIntegrationStatus.PAUSED])
    await expect(client().update({ status })).rejects.toMatchObject(refused);
  await connect();
  expect(await sync()).toEqual(["1", "0"]);
});

test.each(["too many requests", "rate limit exceeded"] as const)(
  "after %j the service waits as long as Google asks, and goes on where it was",
  async (failure) => {
    const form = await addForm();
    respond(form, "r1", {});
    await connect();
    expect(await sync()).toEqual(["1", "0"]);
    respond(form, "r2", {}, "2025-02-03T11:00:00Z");
    server.failNext(failure);
    const { status, json, headers } = await rest("POST", `${path}/sync`, {});
    expect([status, json.error.codeType]).toEqual([429, "RATE_LIMITED"]);
    const waitSeconds = failure === "too many requests" ? 300 : 60;
    expect(headers["retry-after"]).toBe(String(waitSeconds));
    expect((await get()).lastError).toMatch(/^Google allows no more requests for now/);
    clock.advance((waitSeconds - 10) * 1_000);
    await poll();
    expect((await get()).responsesSynced).toBe("1");
    clock.advance(10_000);
    await poll();
    expect(await get()).toMatchObject({ responsesSynced: "2", lastError: "" });
  },
);

test.each(["internal error", "hangs up", "nonsense"] as const)(
  "when Google answers one form by %j the others are fetched, and that one at its next turn",
  async (failure) => {
    const first = await addForm();
    const second = await addForm();
    respond(first, "r1", {});
    respond(second, "r1", {});
    await connect();
    server.failNext(failure);
    expect(await sync()).toEqual(["1", "0"]);
    expect((await get()).lastError).toMatch(/^Google did not answer/);
    clock.advance(900_000);
    await poll();
    expect(await get()).toMatchObject({ responsesSynced: "2", lastError: "" });
    server.failNext(failure, failure);
    const { status, json } = await rest("POST", `${path}/sync`, {});
    expect([status, json.error.codeType]).toEqual([503, "UNAVAILABLE"]);
  },
);

test("of two runs at the same time the second is refused, and what a stopped run still wanted is not written", async () => {
  const form = await addForm();
  respond(form, "r1", {});
  await connect();
  const listing = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  server.onListing = () => {
    listing.resolve();
    return going.promise;
  };
  const running = sync();
  await listing.promise;
  const { status, json } = await rest("POST", `${path}/sync`, {});
  expect([status, json.error.codeType]).toEqual([409, "ABORTED"]);
  await expect(client().syncNow({})).rejects.toMatchObject({ code: Code.Aborted });
  await client().update({ status: GoogleFormsIntegrationStatus.PAUSED });
  going.resolve();
  expect(await running).toEqual(["0", "0"]);
  expect(await get()).toMatchObject({ responsesSynced: "0", lastError: "" });
  await client().update({ status: GoogleFormsIntegrationStatus.ACTIVE });
  server.onListing = async () => {};
  expect(await sync()).toEqual(["1", "0"]);
});

test("after a disconnection visitors keep their data, the grant ends, and nothing is applied a second time", async () => {
  const form = await addForm();
  const id = await visitor("ada@example.com");
  respond(form, "r1", { ...answered("1a", "ada@example.com"), ...answered("2b", "9") });
  await connect();
  expect(await sync()).toEqual(["1", "1"]);
  expect((await rest("DELETE", path)).status).toBe(200);
  expect(await get()).toBeUndefined();
  expect((await rest("DELETE", path)).status).toBe(404);
  expect(await attributesOf(id)).toMatchObject({ company_size: "9 ENUM" });
  server.setAway(true);
  // The queue repeats what fails.
  await revocations((order) => expect(revokeGoogleGrant(jobDeps, order)).rejects.toThrow("503"));
  expect(server.hasGrant(account)).toBe(true);
  server.setAway(false);
  await revocations((order) => revokeGoogleGrant(jobDeps, order));
  expect(server.hasGrant(account)).toBe(false);
  await revocations((order) => revokeGoogleGrant(jobDeps, order));
  await rest("DELETE", `/v1/visitors/${id}/attributes/company_size`);
  await connect();
  expect(await sync()).toEqual(["0", "0"]);
  expect(await attributesOf(id)).not.toHaveProperty("company_size");
});

test("an account that another workspace uses, too, keeps its grant", async () => {
  await connect();
  const [first, firstId] = [rest, workspaceId];
  workspace = await api.newWorkspace();
  ({ rest, workspaceId } = workspace);
  await connect();
  expect((await first("DELETE", path)).status).toBe(200);
  workspaceId = firstId;
  await revocations((order) => revokeGoogleGrant(jobDeps, order));
  expect(server.hasGrant(account)).toBe(true);
  expect(await sync()).toEqual(["0", "0"]);
});

test("answers never reach another workspace, also with its lbid or its visitor's address", async () => {
  const other = await api.newWorkspace();
  const theirs = await makers.event(api, other);
  const { json } = await other.rest("POST", "/v1/visitor/identify", {
    visitor: { $email: "ada@example.com" },
  });
  const form = await addForm();
  respond(form, "r1", { ...answered("1a", "ada@example.com"), ...answered("5e", lbidOfEvent(theirs)) });
  await connect();
  expect(await sync()).toEqual(["1", "0"]);
  expect((await other.rest("GET", `/v1/visitors/${json.visitor.id}`)).json.attributes).toEqual([]);
});

test("a purged workspace leaves nothing behind, and its grant is ended", async () => {
  const form = await addForm();
  respond(form, "r1", {});
  await connect();
  await sync();
  await deleteWorkspace(db, { workspaceId, at: clock.now(), jobCalls });
  const purge = () =>
    purgeWorkspace({ db, storage: api.storage, tokenBox: jobDeps.tokenBox, now: clock.now }, workspaceId);
  expect(await purge()).toBe(true);
  for (const table of ["google_forms", "google_forms_integrations", "google_forms_responses"] as const)
    expect(
      await db.selectFrom(table).select("workspace_id").where("workspace_id", "=", workspaceId).execute(),
    ).toEqual([]);
  await revocations((order) => revokeGoogleGrant(jobDeps, order));
  expect(server.hasGrant(account)).toBe(false);
});
