import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { textOfId } from "../spool/visit-id.ts";
import type { Poison } from "./store-records.ts";

/** Keeps a record that can never be stored, durably, for a person to look at. */
export type Quarantine = (record: Poison, at: Date) => Promise<void>;

/** Writes to `<directory>/quarantine.jsonl`, readable by the owner only: a line of JSON each, the bytes in base64. */
export function createQuarantine(directory: string): Quarantine {
  return async ({ id, bytes, reason }, at) => {
    await mkdir(directory, { recursive: true });
    const line = {
      id: textOfId(id),
      at: at.toISOString(),
      reason,
      bytes: Buffer.from(bytes).toString("base64"),
    };
    const file = await open(join(directory, "quarantine.jsonl"), "a", 0o600);
    try {
      await file.appendFile(`${JSON.stringify(line)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  };
}
