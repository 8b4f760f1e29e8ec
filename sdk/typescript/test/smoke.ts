/**
 * Tests the built package on the service at SIGNPOST_URL, with SIGNPOST_TOKEN; ends with an error when a check fails.
 */
import assert from "node:assert/strict";
import { createClient, items, pages, SignpostError, withIdempotencyKey } from "signpost-client";

const { SIGNPOST_URL, SIGNPOST_TOKEN } = process.env;
assert(SIGNPOST_URL && SIGNPOST_TOKEN, "SIGNPOST_URL and SIGNPOST_TOKEN name the service and a token");
const client = createClient(SIGNPOST_URL, SIGNPOST_TOKEN);

const tag = `smoke-${crypto.randomUUID()}`;
const createLink = async (name: string) => {
  const { link } = await client.links.create({ destination: "https://example.com/menu", name, tags: [tag] });
  assert(link);
  return link;
};
const created = [];
for (const name of ["one", "two", "three", "four", "five"]) created.push(await createLink(name));

const sizes = [];
for await (const page of pages(client.links.list, { pageSize: 2n, tags: [tag] }))
  sizes.push(page.links.length);
assert.deepEqual(sizes, [2, 2, 1]);
const names = [];
for await (const link of items(client.links.list, { pageSize: 2n, tags: [tag] }, (page) => page.links))
  names.push(link.name);
assert.deepEqual(names, ["five", "four", "three", "two", "one"]);

const missing = await client.links
  .get({ id: "00000000-0000-7000-8000-000000000000" })
  .catch((error: unknown) => error);
assert(missing instanceof SignpostError);
assert.equal(missing.code, "NOT_FOUND");
assert.equal(missing.reason, "NOT_FOUND");
assert.notEqual(missing.requestId, "");

const refused = await client.links.create({ destination: "" }).catch((error: unknown) => error);
assert(refused instanceof SignpostError);
assert.equal(refused.code, "INVALID_ARGUMENT");
assert.deepEqual(
  refused.fieldViolations.map(({ field }) => field),
  ["destination"],
);

const stranger = await createClient(SIGNPOST_URL, "wrong")
  .links.list({})
  .catch((error: unknown) => error);
assert(stranger instanceof SignpostError);
assert.equal(stranger.code, "UNAUTHENTICATED");

const once = withIdempotencyKey(crypto.randomUUID());
const request = { destination: "https://example.com/once", tags: [`${tag}-1`] };
const [first, again] = [await client.links.create(request, once), await client.links.create(request, once)];
assert.equal(again.link?.id, first.link?.id);
assert.equal((await client.links.list({ tags: [`${tag}-1`] })).totalCount, 1n);

const everyLink = [...created, first.link];
for (const link of everyLink) await client.links.delete({ id: link?.id ?? "" });
process.stdout.write("typescript: created, paged, refused and repeated as expected\n");
