import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { eventually, type Service, startService } from "../support/start-service.ts";
import { formAction, newVisitor } from "../support/visitor.ts";

/** A value that occurs in every quotation of the failing statements below. */
const person = "ada@example.com";

let service: Service;
let rest: RestApi;
let database: pg.Client;

beforeAll(async () => {
  service = await startService({ env: { LOG_LEVEL: "debug" } });
  rest = restApi(service.baseUrl, service.credentials.accessToken);
  database = new pg.Client(service.env.DATABASE_URL);
  await database.connect();
  // Raises an error like PostgreSQL's own, with every part that quotes values.
  await database.query(`create function refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'invalid value "say "${person}" please"' using errcode = 'XX000',
        detail = 'Failing row contains (1, ${person}).', hint = 'not ${person}';
    end $$`);
});

afterAll(async () => {
  await database?.end();
  await service?.stop();
});

/** Refuses every change of a table until the returned function is called. */
async function refuseAt(table: string, change: string): Promise<() => Promise<unknown>> {
  await database.query(`create trigger refused before ${change} on ${table}
    for each row execute function refuse()`);
  return () => database.query(`drop trigger refused on ${table}`);
}

/** Waits for a log line about the failure, which names its kind. */
async function logged(words: string): Promise<void> {
  await eventually(
    async () => service.stdout(),
    (text) => text.split("\n").some((line) => line.includes(words) && line.includes("invalid value")),
  );
  expect(`${service.stdout()}${service.stderr()}`).not.toContain(person);
}

test("a failing statement of a call writes no personal data to the log", async () => {
  const allow = await refuseAt("visitors", "insert");
  const identify = rest.call("POST", "/v1/visitor/identify", { visitor: { $email: person } });
  await expect(identify).rejects.toThrow("500");
  await allow();
  await logged('"msg":"call"');
});

test("nor does a failing statement of the thread that stores visits", async () => {
  const { shortlink } = await rest.createLink();
  const allow = await refuseAt("devices", "insert");
  await newVisitor(service.port).get(`/${shortlink}?mail=${person}`);
  await logged("visits cannot be stored and stay in the spool");
  await allow();
});

test("nor does a failing statement that stores a visitor's answer, which is stored once it can be", async () => {
  const { id, shortlink } = await rest.createLink();
  const steps = `/v1/links/${id}/workflow-steps`;
  const { workflowSteps } = await rest.call<{ workflowSteps: { id: string; eventAction: string }[] }>(
    "GET",
    steps,
  );
  await rest.call("POST", steps, {
    eventAction: "EVENT_ACTION_FORM_SUBMIT",
    insertBefore: workflowSteps.find(({ eventAction }) => eventAction === "EVENT_ACTION_CLIENT_REDIRECT")?.id,
    payload: {
      form: {
        formTitle: "Where may we write to?",
        formFields: [{ key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL", required: true }],
      },
    },
  });
  const visitor = newVisitor(service.port);
  const page = await visitor.open(`/${shortlink}`);
  const [, field = ""] = /name="(field-[^"]+)"/.exec(page.body) ?? [];
  // A second request for the page shows that the visit is stored.
  expect((await visitor.get(formAction(page))).status).toBe(200);
  const allow = await refuseAt("traces", "insert or update");
  expect((await visitor.post(formAction(page), { [field]: person })).status).toBe(302);
  await logged("visits cannot be stored and stay in the spool");
  await allow();
  await eventually(
    async () => (await database.query("select email from visitors where email is not null")).rows,
    ([visitor]) => visitor?.email === person,
  );
});

test("nor does a failing statement of a job, and its error in the queue holds none either", async () => {
  const allow = await refuseAt("file_checks", "insert");
  await rest.createLink();
  await logged("render-qrcode");
  await allow();
  const kept = await eventually(
    async () =>
      JSON.stringify((await database.query("select last_error from graphile_worker._private_jobs")).rows),
    (text) => text.includes("invalid value"),
  );
  expect(kept).not.toContain(person);
});
