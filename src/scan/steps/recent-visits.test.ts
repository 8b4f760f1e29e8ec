import { expect, test } from "vitest";
import { createRecentVisits } from "./recent-visits.ts";

const key = { workspaceId: "w", linkId: "l", eventId: "e" };

test("requests of one visit take turns, and the fifty-first that would wait gets none", async () => {
  const recent = createRecentVisits();
  const gate = Promise.withResolvers<void>();
  const order: number[] = [];
  const turns = Array.from({ length: 50 }, (_, index) =>
    recent.inTurn(key, async () => {
      await gate.promise;
      order.push(index);
    }),
  );
  expect(turns).not.toContain(undefined);
  expect(recent.inTurn(key, async () => expect.unreachable("its turn"))).toBeUndefined();
  expect(recent.inTurn({ ...key, eventId: "other" }, async () => "other")).toBeDefined();
  gate.resolve();
  await Promise.all(turns);
  expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(await recent.inTurn(key, async () => "again")).toBe("again");
});

test("a request that fails leaves its turn to the next", async () => {
  const recent = createRecentVisits();
  const failing = recent.inTurn(key, () => Promise.reject(new Error("failed")));
  const next = recent.inTurn(key, async () => "next");
  await expect(failing).rejects.toThrow("failed");
  expect(await next).toBe("next");
});
