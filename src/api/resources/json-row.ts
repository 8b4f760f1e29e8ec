import type { Selectable } from "kysely";
import type { Json } from "../../../gen/database.ts";

/** A row inside JSON, where times are text with an offset. */
export type JsonRow<Table> = {
  readonly [Column in keyof Selectable<Table>]: Selectable<Table>[Column] extends Json
    ? Selectable<Table>[Column]
    : Date extends Selectable<Table>[Column]
      ? string | Exclude<Selectable<Table>[Column], Date>
      : Selectable<Table>[Column];
};
