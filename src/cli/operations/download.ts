import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { exitCodeOf, exitCodes, RefusedError } from "../outcome.ts";
import type { ServiceAnswer } from "./ask.ts";

/**
 * Fetches the file of finished work. The file gets its name only when it is whole, and has the SHA-256 that the service
 * names. The address is signed, so that it needs no token.
 */
export async function download({ json }: ServiceAnswer, target: string): Promise<void> {
  const response = await fetch(String(json.downloadUrl), { headers: { "user-agent": "signpost-cli" } });
  if (!response.ok || response.body === null)
    throw failure(`HTTP ${response.status}`, "the file cannot be fetched", exitCodeOf(response.status));
  const hash = createHash("sha256");
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const part = `${target}.part`;
  try {
    await pipeline(response.body, measure, createWriteStream(part));
    if (hash.digest("hex") !== json.sha256)
      throw failure("DAMAGED", "the file has arrived damaged: run the command again", exitCodes.other);
    await rename(part, target);
  } finally {
    await rm(part, { force: true });
  }
}

function failure(reason: string, message: string, exitCode: number): RefusedError {
  return new RefusedError({ reason, message, exitCode, fields: [], facts: {}, requestId: undefined });
}
