import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { answered } from "../../../test/support/google-responses.ts";
import { masterSecret, startApi } from "../../../test/support/start-api.ts";
import { connectGoogle, testTokenBox } from "../../../test/support/test-google.ts";
import { runMs } from "../../integrations/google-forms/runs.ts";
import { fetchFormResponses } from "./fetch-form-responses.ts";

const api = await startApi();
const { db, clock, google, database } = api;
const server = await google.server();
const program = fileURLToPath(new URL("../../../test/support/google-forms-process.ts", import.meta.url));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

function startFetching(): ChildProcess {
  const { host, port, user, password, database: name } = database.connection;
  const connection = { host, port, user, password, database: name };
  const given = { connection, config: server.config, secret: masterSecret, at: clock.now().getTime() };
  const child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: "inherit" });
  children.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  // Nobody else takes over before the time of the dead run is over.
  clock.advance(runMs + 1_000);
}

/** Waits until so many transactions that have asked for visitors are in a state. */
async function untilTransactions(state: string, count: number): Promise<void> {
  const statement = sql<{ count: number }>`select count(*)::int from pg_stat_activity
    where datname = current_database() and query like 'select * from visitors%' and ${sql.raw(state)}`;
  const look = async () => expect((await statement.execute(db)).rows).toEqual([{ count }]);
  await vi.waitFor(look, { timeout: 30_000, interval: 20 });
}

test("responses are applied once, although the fetching process is killed between two pages and within one", async () => {
  const { workspaceId, rest } = await api.newWorkspace();
  const { json: made } = await rest("POST", "/v1/visitor/identify", {
    visitor: { $email: "ada@example.com" },
  });
  const visitorId: string = made.visitor.id;
  const destination = "https://docs.google.com/forms/d/form-of-kills-1/viewform";
  await rest("POST", "/v1/links", { destination });
  const numbered = (number: number) => ({
    responseId: `r${number}`,
    createTime: "2025-02-03T10:00:00Z",
    lastSubmittedTime: `2025-02-03T10:00:00.${String(number).padStart(3, "0")}Z`,
    answers: { ...answered("1a", "ada@example.com"), ...answered("2b", String(number)) },
  });
  const responses = Array.from({ length: 250 }, (_, number) => numbered(number)).reverse();
  const items = ["1a", "2b"].map((questionId) => ({
    title: `Question ${questionId}`,
    questionItem: { question: { questionId, textQuestion: {} } },
  }));
  await connectGoogle(api, workspaceId);
  const { google_email: owner } = await db
    .selectFrom("google_forms_integrations")
    .select("google_email")
    .executeTakeFirstOrThrow();
  server.forms.set("form-of-kills-1", { owner, publishedId: "published-1", items, responses });
  const counts = async () => {
    const { json } = await rest("GET", "/v1/google-forms-integrations");
    return [json.integration.responsesSynced, json.integration.visitorsEnriched];
  };

  // The second page of the first process is never answered.
  const second = Promise.withResolvers<void>();
  let listings = 0;
  server.onListing = () => {
    listings += 1;
    if (listings < 2) return Promise.resolve();
    second.resolve();
    return new Promise(() => {});
  };
  const first = startFetching();
  await second.promise;
  expect(await counts()).toEqual(["100", "100"]);
  await kill(first);
  server.onListing = async () => {};

  // The second process has written a part of its page, and waits for the visitor.
  const other = new pg.Client(database.connection);
  await other.connect();
  await other.query("begin");
  await other.query("select from visitors where id = $1 for update", [visitorId]);
  const waiting = startFetching();
  await untilTransactions("wait_event_type = 'Lock'", 1);
  await kill(waiting);
  await other.query("rollback");
  await other.end();
  // The server notices only now that the process is gone.
  await untilTransactions("xact_start is not null", 0);
  expect(await counts()).toEqual(["100", "100"]);

  await fetchFormResponses({ db, now: clock.now, google, tokenBox: testTokenBox() });
  expect(await counts()).toEqual(["250", "250"]);
  const kept = await db.selectFrom("google_forms_responses").select("response_id").execute();
  expect(new Set(kept.map(({ response_id }) => response_id)).size).toBe(250);
  const { attributes } = (await rest("GET", `/v1/visitors/${visitorId}`)).json;
  const newest = attributes.find(({ key }: { key: string }) => key === "question_2b");
  expect(newest.value).toBe("249");
});
