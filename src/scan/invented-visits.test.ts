import { expect, test } from "vitest";
import { insertWorkflow } from "../../test/support/insert-workflow.ts";
import { startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { formAction, withoutSeal } from "../../test/support/visitor.ts";
import { newId } from "../lib/ids.ts";
import { lbidOfEvent } from "../model/visitors/lbid.ts";

const database = await testDatabase();

const pageFlow = {
  entry: { action: "LINK_VISIT", next: { next: "page" } },
  page: {
    action: "MESSAGE_PAGE",
    payload: { title: "Welcome", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    next: { next: "done" },
  },
  done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/" } },
} as const;

test("invented visits are charged like invented links, few requests wait for one, and real visits are still shown", async () => {
  const at = new Date();
  const { ask, statements } = await startTestScan(database, { now: () => at });
  const link = await insertWorkflow(database.db, pageFlow);
  const guesser = { address: "198.51.100.9" };
  const { body } = await ask(`/${link.shortlink}`, guesser);
  // The address of a visitor who has only the lbid.
  const own = withoutSeal(formAction({ body }));
  expect((await ask(own, guesser)).status).toBe(200);
  const invented = (time: Date) => own.replace(/lbid=[\w-]{22}/, `lbid=${lbidOfEvent(newId(time))}`);
  const statusesOf = async (count: number, time: Date) => {
    const asked = Array.from({ length: count }, () => ask(invented(time), guesser));
    return Map.groupBy(await Promise.all(asked), ({ status }) => status);
  };
  const before = statements();
  const recent = await statusesOf(60, at);
  expect([recent.get(404)?.length, recent.get(429)?.length]).toEqual([20, 40]);
  expect(recent.get(429)?.at(0)?.headers["retry-after"]).toBe("60");
  // Each of the 60 requests looks twice. The 20 that are waited for look eight times more.
  expect(statements() - before).toBe(60 * 2 + 20 * 8);
  const old = new Date(at.getTime() - 3_600_000);
  expect((await statusesOf(80, old)).get(404)).toHaveLength(80);
  expect((await statusesOf(5, old)).get(429)).toHaveLength(5);
  expect((await ask(own, guesser)).status).toBe(200);
  expect((await ask(invented(old), { address: "198.51.100.10" })).status).toBe(404);
});
