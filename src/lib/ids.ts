import { v7 } from "uuid";
import type { Fault } from "./errors.ts";

const nilId = "00000000-0000-0000-0000-000000000000";
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Makes a UUIDv7 (RFC 9562) of the given time. Ids of one millisecond sort at random. */
export function newId(at: Date): string {
  return v7({ msecs: at.getTime() });
}

/** The smallest UUID of a millisecond: `id >= uuidFromTime(t)` selects ids made at `t` or later. */
export function uuidFromTime(at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The millisecond in which a UUIDv7 was made. */
export function timeOfUuid(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/**
 * The faults of an id that a client has chosen for its record; none when the client leaves the choice to the service.
 */
export function chosenIdFaults(id: string): Fault[] {
  if (id !== nilId) return [];
  const description = "must not be the nil UUID, which stands for none: choose another, or leave it out";
  return [{ field: "id", description, reason: "INVALID_ARGUMENT" }];
}

export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}
