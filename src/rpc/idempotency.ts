import { createHash, createHmac } from "node:crypto";
import { type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { CallError, type Code, fail, type Refusal } from "../lib/errors.ts";
import { seal, unseal } from "../lib/sealed.ts";
import type { MethodPlan } from "./access.ts";

export interface IdempotencyDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** Of purpose `idempotency-fingerprints`: a bare hash would let a reader of the table guess short secrets. */
  readonly fingerprintKey: Uint8Array;
  /** Of purpose `idempotency-outcomes`, for answers with secrets. */
  readonly outcomeKey: Uint8Array;
}

/** One call that came with a key. */
export interface KeyedCall {
  readonly plan: MethodPlan;
  readonly request: Message;
  /** The tenant, or the nil UUID on open calls. */
  readonly workspaceId: string;
  /** Who holds the key: the token, the session or grant, or the client's address on open calls. */
  readonly caller: string;
  /** Method, path and query as they came. */
  readonly target: string;
  readonly key: string;
  /** Aborted once the caller was told that the call took too long. */
  readonly deadline: AbortSignal;
}

export interface KeyedOutcome {
  readonly outcome: Message | CallError;
  readonly isReplay: boolean;
}

/** How long outcomes are kept, in milliseconds. */
const keptMs = 24 * 3_600_000;

/** Larger answers of calls without side effects are not kept, as bytes: a retry reads again. */
const readBytesMax = 256 * 1024;

/** A running mark dies after this time: the transaction that holds it is ended by the server. */
const runningMax = "60s";

/** Codes whose outcome another try may change; they are never stored. */
const passing: ReadonlySet<Code> = new Set([
  "CANCELLED",
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "ABORTED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
]);

/** Checks the form of an `Idempotency-Key`: 1 to 255 printable ASCII characters. */
export function checkIdempotencyKey(key: string): CallError | undefined {
  if (/^[ -~]{1,255}$/.test(key)) return undefined;
  return fail(
    "INVALID_ARGUMENT",
    "INVALID_IDEMPOTENCY_KEY",
    "Idempotency-Key must be 1 to 255 printable ASCII characters",
  );
}

/**
 * Runs a handler once for a key: record and effect commit together, and a crash leaves neither. Answers the handler's
 * deterministic errors like its messages, because they are stored; throws all others. `run` gets the transaction, and what
 * it did there is undone whenever it throws.
 */
export function runOnce(
  deps: IdempotencyDeps,
  call: KeyedCall,
  run: (tx: Db) => Promise<Message>,
): Promise<KeyedOutcome> {
  const [method = "", url = ""] = call.target.split(" ", 2);
  const target = `${method} ${url.split("?", 1)[0]}`;
  const identity = [call.workspaceId, call.caller, target, call.key] as const;
  const fingerprint = fingerprintOf(deps.fingerprintKey, call);
  return deps.db.transaction().execute(async (tx) => {
    await lock(tx, identity);
    const stored = await find(tx, identity, deps.now());
    if (stored !== undefined) {
      if (!stored.fingerprint.equals(fingerprint)) throw keyReused();
      const outcome = readOutcome(deps.outcomeKey, identity, stored.outcome, call.plan.method.output);
      return { outcome, isReplay: true };
    }
    const outcome = await runInSavepoint(tx, run);
    // The caller has been told that it took too long; the retry runs anew.
    if (isDeadline(call.deadline)) throw call.deadline.reason;
    const kept = writeOutcome(deps.outcomeKey, identity, outcome, call.plan);
    if (!call.plan.readsOnly || kept.length <= readBytesMax)
      await store(tx, identity, fingerprint, kept, deps.now());
    return { outcome, isReplay: false };
  });
}

type Identity = readonly [workspaceId: string, caller: string, target: string, key: string];

function isDeadline({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CallError && reason.code === "DEADLINE_EXCEEDED";
}

/** Runs the handler so that a deterministic error undoes its effects and nothing else. */
async function runInSavepoint(tx: Db, run: (tx: Db) => Promise<Message>): Promise<Message | CallError> {
  await sql`savepoint handler`.execute(tx);
  try {
    return await run(tx);
  } catch (error) {
    if (!(error instanceof CallError) || passing.has(error.code)) throw error;
    await sql`rollback to savepoint handler`.execute(tx);
    return error;
  }
}

/** Holds the key until the transaction ends, or tells that another call holds it. */
async function lock(tx: Db, identity: Identity): Promise<void> {
  const id = createHash("sha256").update(identity.join("\n")).digest().readBigInt64BE();
  const { rows } = await sql<{ got: boolean }>`
    select pg_try_advisory_xact_lock(${id}::bigint) as got,
      set_config('idle_in_transaction_session_timeout', ${runningMax}, true)`.execute(tx);
  if (rows[0]?.got === true) return;
  throw fail(
    "ABORTED",
    "IDEMPOTENCY_IN_PROGRESS",
    "the first call with this idempotency key is still running; try again in a second",
    { retryAfterSeconds: 1 },
  );
}

function keyReused(): CallError {
  return fail(
    "INVALID_ARGUMENT",
    "IDEMPOTENCY_KEY_REUSED",
    "this idempotency key came before with another request; take a new key",
    { httpStatus: 422 },
  );
}

function find(tx: Db, [workspaceId, caller, target, key]: Identity, now: Date) {
  return tx
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "outcome"])
    .where("workspace_id", "=", workspaceId)
    .where("caller", "=", caller)
    .where("target", "=", target)
    .where("key", "=", key)
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

async function store(
  tx: Db,
  [workspaceId, caller, target, key]: Identity,
  fingerprint: Buffer,
  outcome: Buffer,
  now: Date,
): Promise<void> {
  const values = {
    fingerprint,
    outcome,
    created_at: now,
    expires_at: new Date(now.getTime() + keptMs),
  };
  await tx
    .insertInto("idempotency_keys")
    .values({ workspace_id: workspaceId, caller, target, key, ...values })
    // Only an expired record can stand there, because of the lock.
    .onConflict((conflict) =>
      conflict.columns(["workspace_id", "caller", "target", "key"]).doUpdateSet(values),
    )
    .execute();
}

/** Forgets the outcomes that are older than 24 hours, at most 10,000 at a time. Answers how many. */
export async function deleteExpired(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where expires_at <= ${now} limit 10000))`.execute(db);
  return Number(numAffectedRows);
}

function fingerprintOf(key: Uint8Array, { request, plan, target }: KeyedCall): Buffer {
  const json = canonical(toJson(plan.method.input, request));
  return createHmac("sha256", key).update(`${target}\n${json}`).digest();
}

/** JSON with its keys in order, and the paths of field masks too: their order follows from that of the body's keys. */
function canonical(json: unknown, key = ""): string {
  if (Array.isArray(json)) return `[${json.map((item) => canonical(item)).join()}]`;
  if (typeof json === "object" && json !== null) {
    const entries = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value, name)}`).join()}}`;
  }
  if (key === "updateMask" && typeof json === "string") return JSON.stringify(json.split(",").sort());
  return JSON.stringify(json);
}

type StoredOutcome =
  | { readonly message: string }
  | {
      readonly code: Code;
      readonly reason: CallError["reason"];
      readonly text: string;
      readonly refusal: Refusal;
    };

/** Stored outcomes begin with one of these bytes; an encrypted one goes on sealed. */
const format = { plain: 0, encrypted: 1 } as const;

function writeOutcome(
  key: Uint8Array,
  identity: Identity,
  outcome: Message | CallError,
  { method, answersSecrets }: MethodPlan,
): Buffer {
  const { cause: _, ...refusal } = outcome instanceof CallError ? outcome.refusal : {};
  const stored: StoredOutcome =
    outcome instanceof CallError
      ? { code: outcome.code, reason: outcome.reason, text: outcome.message, refusal }
      : { message: Buffer.from(toBinary(method.output, outcome)).toString("base64") };
  const plain = Buffer.from(JSON.stringify(stored));
  if (!answersSecrets || outcome instanceof CallError) return Buffer.concat([Buffer.of(format.plain), plain]);
  return Buffer.concat([Buffer.of(format.encrypted), seal(plain, key, identity.join("\n"))]);
}

function readOutcome(
  key: Uint8Array,
  identity: Identity,
  bytes: Buffer,
  output: DescMessage,
): Message | CallError {
  const rest = bytes.subarray(1);
  const plain = bytes[0] === format.encrypted ? unseal(rest, key, identity.join("\n")) : rest;
  // Written by writeOutcome, and by nobody else.
  const stored = JSON.parse(plain.toString("utf8")) as StoredOutcome;
  if ("message" in stored) return fromBinary(output, Buffer.from(stored.message, "base64"));
  return fail(stored.code, stored.reason, stored.text, stored.refusal);
}
