import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import { ExportFormat } from "signpost-client/v1/export";
import type { Link } from "signpost-client/v1/link";
import { given, until } from "./journey-support.ts";

/** Takes the one visit of a link away as a file, and deletes the file. */
export async function takeAway({ exports }: Client, { id: linkId }: Link): Promise<void> {
  const { id } = given((await exports.create({ format: ExportFormat.CSV, linkId })).export);
  const done = await until("the export", async () => {
    const made = given((await exports.get({ id })).export);
    return made.completedAt === undefined ? undefined : made;
  });
  assert.equal(done.rowCount, 1n);
  const file = await fetch(done.downloadUrl);
  assert.equal(Number(done.size), (await file.arrayBuffer()).byteLength);
  const listed = await exports.list({});
  assert(listed.exports.some((each) => each.id === id));
  await exports.delete({ id });
}
