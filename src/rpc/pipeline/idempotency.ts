import { createHmac, randomBytes } from "node:crypto";
import { type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { IdempotencyKeys } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { CallError, type Code, type ErrorDetails, fail } from "../../lib/errors.ts";
import { seal, unseal } from "../../lib/sealed.ts";
import type { MethodPlan } from "../access.ts";
import { untilMade, type Write } from "../handlers.ts";

export interface IdempotencyDeps {
  /** For single statements about keys, which take effect whatever happens to the call. */
  readonly db: Db;
  /** For the transaction of a call: it waits for its turn at the pool. */
  readonly longDb: Db;
  readonly now: () => Date;
  /** Derived for `idempotency-fingerprints`: with a bare hash, a reader of the table could guess short secrets. */
  readonly fingerprintKey: Uint8Array;
  /** Derived for `idempotency-outcomes`; encrypts answers with secrets. */
  readonly outcomeKey: Uint8Array;
}

/** One call that came with a key. */
export interface KeyedCall {
  readonly plan: MethodPlan;
  readonly request: Message;
  /** The workspace, or the nil UUID on open calls. */
  readonly workspaceId: string;
  /** Who holds the key: the token, the session or grant, or the client's address on open calls. */
  readonly caller: string;
  /** Method, path and query as the client sent them. */
  readonly target: string;
  /** The time that the rules of workflows see. It is a part of what is asked. */
  readonly testClock: Date | undefined;
  readonly key: string;
  /** Aborts when the caller is told that the call took too long. */
  readonly deadline: AbortSignal;
}

export interface KeyedOutcome {
  readonly outcome: Message | CallError;
  readonly isReplay: boolean;
}

/** How long outcomes are kept, in milliseconds. */
const keptMs = 24 * 3_600_000;

/** A running mark expires after this time, in milliseconds: its process is then taken to be dead. */
const runningMs = 60_000;

/** Larger answers, in bytes, of calls without side effects are not stored: a retry reads again. */
const readBytesMax = 256 * 1024;

/** Codes of outcomes that a retry may change; they are never stored. */
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
 * Runs a handler once for a key. The key is marked as running before the handler starts. The transaction of the effect
 * replaces the mark by the outcome: record and effect commit together, and a crash leaves neither. Returns the
 * handler's deterministic errors like its messages, because both are stored; throws all other errors. When a write
 * throws, its transaction undoes its effects.
 */
export async function runOnce(
  deps: IdempotencyDeps,
  call: KeyedCall,
  prepare: () => Promise<Write<Message>>,
): Promise<KeyedOutcome> {
  const claimed = await claim(deps, call);
  if (claimed === undefined) return { outcome: await findOutcome(deps, call), isReplay: true };
  try {
    call.deadline.throwIfAborted();
    const outcome = await untilMade(async () => {
      const write = await prepare();
      return deps.longDb.transaction().execute(async (tx) => {
        const message = await write(tx);
        // The caller has been told that the call took too long; the retry runs anew.
        if (isDeadline(call.deadline)) throw call.deadline.reason;
        if (message !== undefined) await store(deps, tx, claimed, message);
        return message;
      });
    });
    return { outcome, isReplay: false };
  } catch (error) {
    if (error instanceof CallError && !passing.has(error.code) && !isDeadline(call.deadline)) {
      await store(deps, deps.db, claimed, error);
      return { outcome: error, isReplay: false };
    }
    // If this fails, the mark still expires after a minute.
    await unclaim(deps.db, claimed).catch(() => {});
    throw error;
  }
}

type Identity = readonly [workspaceId: string, caller: string, target: string, key: string];

/** A key that is marked as running. */
interface Claim {
  readonly plan: MethodPlan;
  readonly identity: Identity;
  readonly mark: Buffer;
}

function identityOf({ workspaceId, caller, target, key }: KeyedCall): Identity {
  const [method = "", url = ""] = target.split(" ", 2);
  return [workspaceId, caller, `${method} ${url.split("?", 1)[0]}`, key];
}

function isDeadline({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof CallError && reason.code === "DEADLINE_EXCEEDED";
}

/**
 * Marks the key as running, unless it is known. The commit does not wait for the disk: the mark need not survive a
 * crash of the database, because the effect would not survive it either.
 */
async function claim(
  { db, now, fingerprintKey }: IdempotencyDeps,
  call: KeyedCall,
): Promise<Claim | undefined> {
  const identity = identityOf(call);
  const at = now();
  const mark = Buffer.concat([Buffer.of(format.running), randomBytes(16)]);
  const { rows } = await sql`
    insert into idempotency_keys as known
      (workspace_id, caller, target, key, fingerprint, outcome, created_at, expires_at)
    values (${sql.join([...identity])}, ${fingerprintOf(fingerprintKey, call)}, ${mark}, ${at},
      ${new Date(at.getTime() + runningMs)})
    on conflict (workspace_id, caller, target, key) do update set fingerprint = excluded.fingerprint,
      outcome = excluded.outcome, created_at = excluded.created_at, expires_at = excluded.expires_at
      where known.expires_at <= ${at}
    returning set_config('synchronous_commit', 'off', true)`.execute(db);
  return rows.length === 0 ? undefined : { plan: call.plan, identity, mark };
}

/**
 * Replaces the mark by the outcome; throws when the mark expired and another call took the key. Removes the mark of a
 * large read.
 */
async function store(
  { now, outcomeKey }: IdempotencyDeps,
  db: Db,
  claimed: Claim,
  outcome: Message | CallError,
): Promise<void> {
  const { identity, mark, plan } = claimed;
  const at = now();
  const kept = writeOutcome(outcomeKey, identity, outcome, plan);
  if (plan.readsOnly && kept.length > readBytesMax) return unclaim(db, claimed);
  const { numAffectedRows = 0n } = await sql`update idempotency_keys
    set outcome = ${kept}, created_at = ${at},
      expires_at = ${new Date(at.getTime() + keptMs)}
    where ${isAt(identity)} and outcome = ${mark}`.execute(db);
  if (numAffectedRows === 0n) throw inProgress();
}

async function unclaim(db: Db, { identity, mark }: Claim): Promise<void> {
  await sql`delete from idempotency_keys where ${isAt(identity)} and outcome = ${mark}`.execute(db);
}

function isAt([workspaceId, caller, target, key]: Identity): RawBuilder<unknown> {
  return sql`workspace_id = ${workspaceId} and caller = ${caller} and target = ${target} and key = ${key}`;
}

/** Finds the stored answer of the first call with the key. */
async function findOutcome(
  { db, now, fingerprintKey, outcomeKey }: IdempotencyDeps,
  call: KeyedCall,
): Promise<Message | CallError> {
  const identity = identityOf(call);
  const { rows } = await sql<Pick<Selectable<IdempotencyKeys>, "fingerprint" | "outcome">>`
    select fingerprint, outcome from idempotency_keys
    where ${isAt(identity)} and expires_at > ${now()}`.execute(db);
  const [stored] = rows;
  if (stored === undefined) throw inProgress();
  if (!stored.fingerprint.equals(fingerprintOf(fingerprintKey, call))) throw keyReused();
  if (stored.outcome[0] === format.running) throw inProgress();
  return readOutcome(outcomeKey, identity, stored.outcome, call.plan.method.output);
}

function inProgress(): CallError {
  return fail(
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
    "this idempotency key was already used with another request; use a new key",
    { httpStatus: 422 },
  );
}

/** Deletes the outcomes that are older than 24 hours, at most 10,000 at a time. Returns how many. */
export async function deleteExpired(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where expires_at <= ${now} limit 10000))`.execute(db);
  return Number(numAffectedRows);
}

function fingerprintOf(key: Uint8Array, { request, plan, target, testClock }: KeyedCall): Buffer {
  const json = canonical(toJson(plan.method.input, request));
  const asked = testClock === undefined ? target : `${target}\n${testClock.toISOString()}`;
  return createHmac("sha256", key).update(`${asked}\n${json}`).digest();
}

/**
 * Writes JSON with sorted keys and sorted paths of field masks: the order of these paths follows the keys of the body.
 */
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
      readonly refusal: ErrorDetails;
    };

/**
 * The first byte of a stored outcome. After `encrypted` come sealed bytes, after `running` the random bytes that
 * identify the mark.
 */
const format = { plain: 0, encrypted: 1, running: 2 } as const;

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
  // Only writeOutcome writes these bytes.
  const stored = JSON.parse(plain.toString("utf8")) as StoredOutcome;
  if ("message" in stored) return fromBinary(output, Buffer.from(stored.message, "base64"));
  return fail(stored.code, stored.reason, stored.text, stored.refusal);
}
