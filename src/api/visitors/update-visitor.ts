import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateVisitorRequest,
  UpdateVisitorResponseSchema,
} from "../../../gen/signpost/v1/visitors_service_pb.js";
import { type Db, inTransaction, violates } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { saveAttributes } from "../../visitors/visitor-attributes.ts";
import { lockVisitors } from "../../visitors/visitor-moves.ts";
import { withdrawSummaries } from "../../visitors/withdraw-summaries.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { nothingEmbedded, toVisitor } from "./message.ts";
import { findVisitor } from "./queries.ts";
import { type GivenText, type GivenValue, readValues, tooManyAttributes } from "./rules.ts";
import { deleteAttributes, type ReservedFields, updateVisitor } from "./writes.ts";

/** Changes the given values of a visitor. Null deletes one, and an empty text clears a reserved one. */
export async function changeVisitor(
  { now, shortUrl }: Pick<Deps, "now" | "shortUrl">,
  { id, visitor }: UpdateVisitorRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdateVisitorResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const values = readValues(visitor);
  return inTransaction(context.db, async (tx) => {
    const at = now();
    const [before] = await lockVisitors(tx, workspaceId, [id]);
    if (before === undefined) throw notFound("visitor", "id", id);
    const reserved = changedFields(values, before);
    const changed = await saveCustom(tx, { workspaceId, id: before.id, at, values });
    if (Object.keys(reserved).length > 0 || changed)
      await saveProfile(tx, workspaceId, before.id, { ...reserved, updated_at: at });
    if (Object.keys(reserved).length > 0) await withdrawSummaries(tx, workspaceId);
    const row = await findVisitor(tx, workspaceId, before.id);
    if (row === undefined) throw new Error("a locked visitor is gone");
    const stored = new Set(row.attributes.map(({ key }) => key));
    if (values.filter(isCustomText).some(({ key }) => !stored.has(key))) throw tooManyAttributes();
    return { visitor: toVisitor(row, nothingEmbedded, shortUrl) };
  });
}

const columns = {
  $email: "email",
  $phone: "phone",
  $firstName: "first_name",
  $lastName: "last_name",
} as const;

function changedFields(values: readonly GivenValue[], before: ReservedFields): Partial<ReservedFields> {
  const fields: { -readonly [Column in keyof ReservedFields]?: string | null } = {};
  for (const [key, column] of Object.entries(columns)) {
    const given = values.find((each) => each.key === key);
    if (given !== undefined && given.value !== before[column]) fields[column] = given.value;
  }
  return fields;
}

function isCustomText(given: GivenValue): given is GivenText {
  return !given.key.startsWith("$") && given.value !== null;
}

/** Gives whether anything changed. */
async function saveCustom(
  tx: Db,
  {
    workspaceId,
    id,
    at,
    values,
  }: {
    readonly workspaceId: string;
    readonly id: string;
    readonly at: Date;
    readonly values: readonly GivenValue[];
  },
): Promise<boolean> {
  const gone = values
    .filter(({ key, value }) => value === null && !key.startsWith("$"))
    .map(({ key }) => key);
  // Attributes are deleted first, because that makes room.
  const deleted = await deleteAttributes(tx, workspaceId, id, gone);
  const given = values.filter(isCustomText).map((each) => ({ ...each, setOnce: false }));
  const saved = await saveAttributes(tx, workspaceId, id, at, given);
  return deleted > 0n || saved.length > 0;
}

async function saveProfile(
  tx: Db,
  workspaceId: string,
  id: string,
  values: Parameters<typeof updateVisitor>[3],
): Promise<void> {
  try {
    await updateVisitor(tx, workspaceId, id, values);
  } catch (error) {
    if (violates(error, "visitors_email_key"))
      throw fail("ALREADY_EXISTS", "VISITOR_EMAIL_TAKEN", "visitor.$email: another visitor has this address");
    throw error;
  }
}
