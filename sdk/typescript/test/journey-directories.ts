import assert from "node:assert/strict";
import { type Client, items } from "signpost-client";
import { all, given, refusalOf, until } from "./journey-support.ts";

/** Makes a directory in another, moves it out and deletes the other; returns its id. */
export async function nestDirectories({ directories }: Client, name: string): Promise<string> {
  const { id: outerId } = given((await directories.create({ name: "Campaigns" })).directory);
  const made = await directories.create({ name, parentDirectoryId: outerId });
  const { id } = given(made.directory);
  const found = await all(items(directories.list, { search: name }, (page) => page.directories));
  assert.deepEqual(
    found.map(({ path }) => path),
    [`Campaigns/${name}`],
  );
  await directories.update({ id: outerId, name: "Prints" });
  assert.equal((await directories.get({ id })).directory?.path, `Prints/${name}`);
  const refused = await refusalOf(directories.delete({ id: outerId }));
  assert.equal(refused.reason, "DIRECTORY_NOT_EMPTY");
  const moved = await directories.update({ id, parentDirectoryIdDelete: true });
  assert.equal(moved.directory?.path, name);
  await directories.delete({ id: outerId });
  return id;
}

/** Makes two links at once in each of three ways, one of them in the directory and with the tag; then deletes all that. */
export async function makeManyLinks(client: Client, tag: string, directoryId: string): Promise<void> {
  const { links, jobs, tags } = client;
  const wanted = ["One", "Two"].map((name) => ({ destination: "https://example.com/many", name }));
  const batch = await links.createBatch({ links: wanted });
  const bulk = await links.createBulk({
    links: wanted.map((link) => ({ ...link, directoryId, tags: [tag] })),
  });
  assert.deepEqual(
    bulk.links.map((link) => [link.name, link.directoryId, link.tags[0]?.name]),
    wanted.map(({ name }) => [name, directoryId, tag]),
  );
  const { id } = given((await links.createBulkJob({ links: wanted })).job);
  const { linkIds } = await until("the job's links", async () => {
    const { job } = await jobs.get({ id });
    assert.equal(job?.error, undefined);
    return job?.linksBulkCreate;
  });
  assert.equal(linkIds.length, wanted.length);

  const found = await all(items(tags.list, { search: tag }, (page) => page.tags));
  assert.deepEqual(
    found.map(({ name }) => name),
    [tag],
  );
  await tags.delete({ name: tag });
  assert.deepEqual((await links.list({ tags: [tag] })).links, []);
  const made = [...batch.links, ...bulk.links].map((link) => link.id);
  for (const each of [...made, ...linkIds]) await links.delete({ id: each });
  await client.directories.delete({ id: directoryId });
}
