import type { Storage } from "../../lib/storage/storage.ts";
import { storedDesign } from "./stored-design.ts";

/** The storage key of the picture in the middle of a stored design. Undefined when there is none. */
export function centralImageKeyOf(options: unknown): string | undefined {
  if (typeof options !== "object" || options === null || !("centralImageKey" in options)) return undefined;
  return typeof options.centralImageKey === "string" ? options.centralImageKey : undefined;
}

/** Reads a design as it is stored, with its picture. Throws when the picture is missing from the storage. */
export async function loadDesign(
  storage: Storage,
  options: unknown,
): Promise<ReturnType<typeof storedDesign>> {
  const key = centralImageKeyOf(options);
  if (key === undefined) return storedDesign(options);
  const picture = await storage.get(key);
  if (picture === undefined) throw new Error(`there is no file ${key}`);
  return storedDesign(options, picture.bytes);
}
