import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { SignpostError } from "signpost-client";

/** A PNG of one pixel. */
export const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64",
);

/** Where a short link leads a browser. */
export async function follow(address: string): Promise<URL> {
  const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const answer = await fetch(address, {
    redirect: "manual",
    headers: { "user-agent": userAgent, accept: "text/html" },
  });
  assert.equal(answer.status, 302, `${address} answers ${answer.status}`);
  return new URL(answer.headers.get("location") ?? "");
}

/** What a call answers once it answers something; fails after 30 seconds. */
export async function until<Value>(what: string, ask: () => Promise<Value | undefined>): Promise<Value> {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    const value = await ask();
    if (value !== undefined) return value;
    await pause(100);
  }
  throw new Error(`${what} has not come to be`);
}

/** A value that an answer must hold. */
export function given<Value>(value: Value | undefined): Value {
  assert(value !== undefined);
  return value;
}

/** What a list holds, page after page. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The error with which a call is refused. */
export async function refusalOf(call: Promise<unknown>): Promise<SignpostError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert(error instanceof SignpostError);
  return error;
}
