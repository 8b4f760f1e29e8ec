import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { TokenBox } from "../token-box.ts";
import { type Applied, applyPage } from "./apply-page.ts";
import { type FormTurn, formsToAsk } from "./find-forms.ts";
import type { Google, GoogleAccount } from "./google.ts";
import { GoogleFault } from "./google-fault.ts";
import { readForm } from "./read-form.ts";
import { readResponse } from "./read-response.ts";
import { endRun, type Run, type RunEnd, syncEveryMs } from "./runs.ts";

export interface SyncDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly google: Google;
  readonly tokenBox: TokenBox;
  /** How many questions one run asks Google at most; 40 when absent. */
  readonly questionsMax?: number;
}

/** What a run did, and what ended it early. */
export interface Synced extends Applied {
  readonly fault: GoogleFault | undefined;
  /** Whether Google has told all that it was asked for, at least of some form. */
  readonly hasFetched: boolean;
}

/** How many questions without an answer end a run. */
const faultsMax = 3;

/** The least wait after a refusal for too many requests, in milliseconds. */
const quotaWaitMs = 60_000;

/**
 * Fetches new responses of a workspace's forms, as many as the run may ask for; the next run goes on there. Nothing
 * waits inside a transaction. The run may be killed at any time.
 */
export async function sync(deps: SyncDeps, run: Run, signal?: AbortSignal): Promise<Synced> {
  const turn = newTurn(deps, signal);
  try {
    const account = await deps.google.open(openToken(deps, run), signal);
    await askForms(turn, run, account);
  } catch (error) {
    if (!(error instanceof GoogleFault)) throw error;
    turn.fault = error;
  }
  await endRun(deps.db, run, endOf(turn));
  const { responses, visitors, fault, hasFetched } = turn;
  return { responses, visitors, fault, hasFetched };
}

/** A token that another master secret sealed is lost. */
function openToken({ tokenBox }: SyncDeps, { workspaceId, integrationId, sealedToken }: Run): string {
  try {
    return tokenBox.open(sealedToken, { kind: "google-forms", workspaceId, integrationId });
  } catch {
    throw new GoogleFault("grant", "the token cannot be opened");
  }
}

/** How far a run is. */
interface Turn extends SyncDeps {
  readonly signal: AbortSignal | undefined;
  questionsLeft: number;
  faults: number;
  responses: number;
  visitors: number;
  hasFetched: boolean;
  isRoundOver: boolean;
  /** The run may write nothing any more. */
  isLost: boolean;
  fault: GoogleFault | undefined;
}

function newTurn(deps: SyncDeps, signal: AbortSignal | undefined): Turn {
  return {
    ...deps,
    signal,
    questionsLeft: deps.questionsMax ?? 40,
    faults: 0,
    responses: 0,
    visitors: 0,
    hasFetched: false,
    isRoundOver: false,
    isLost: false,
    fault: undefined,
  };
}

function hasEnded({ signal, questionsLeft, faults, isLost }: Turn): boolean {
  return signal?.aborted === true || questionsLeft <= 0 || faults >= faultsMax || isLost;
}

async function askForms(turn: Turn, run: Run, account: GoogleAccount): Promise<void> {
  const forms = await formsToAsk(turn.db, run);
  for (const form of forms) {
    if (hasEnded(turn)) return;
    try {
      await askForm(turn, run, account, form);
    } catch (error) {
      if (!(error instanceof GoogleFault) || error.kind === "grant" || error.kind === "quota") throw error;
      if (turn.signal?.aborted === true) return;
      // Other forms still have their turn.
      turn.fault = error.kind === "away" ? error : turn.fault;
      turn.faults += error.kind === "away" ? 1 : 0;
      turn.hasFetched ||= error.kind === "refused";
      await passOver(turn, run, form, error);
    }
  }
  turn.isRoundOver = !hasEnded(turn) || (await formsToAsk(turn.db, run)).length === 0;
  turn.hasFetched ||= forms.length === 0;
}

/** Fetches the listing of a form's responses from where it stands. */
async function askForm(turn: Turn, run: Run, account: GoogleAccount, known: FormTurn): Promise<void> {
  turn.questionsLeft -= 1;
  const form = readForm(await account.readForm(known.form_id));
  const watermark = known.watermark ?? "";
  let { page_token: pageToken = "", newest_seen: newestSeen = "" } = known;
  while (!hasEnded(turn)) {
    turn.questionsLeft -= 1;
    const page = await listPage(account, known.form_id, { watermark, pageToken });
    const responses = page.responses.flatMap((response) => readResponse(response, form) ?? []);
    for (const { submittedAt } of responses) if (submittedAt > newestSeen) newestSeen = submittedAt;
    // A token that leads to itself would never end.
    const next = page.nextPageToken === pageToken ? "" : page.nextPageToken;
    const isComplete = next === "";
    const applied = await applyPage(turn.db, run, {
      formId: known.form_id,
      publishedId: form.publishedId ?? "",
      responses,
      watermark: isComplete && newestSeen > watermark ? newestSeen : watermark,
      pageToken: next,
      newestSeen: isComplete ? "" : newestSeen,
      at: turn.now(),
    });
    if (applied === undefined) {
      turn.isLost = true;
      return;
    }
    turn.responses += applied.responses;
    turn.visitors += applied.visitors;
    if (isComplete) {
      turn.hasFetched = true;
      return;
    }
    pageToken = next;
  }
}

/** How far before the watermark a listing begins: what was sent just before may have become visible only afterwards. */
const overlapMs = 60_000;

/** A listing that Google no longer goes on with begins again. */
async function listPage(
  account: GoogleAccount,
  formId: string,
  { watermark, pageToken }: { readonly watermark: string; readonly pageToken: string },
) {
  const from = watermark === "" ? "" : new Date(Date.parse(watermark) - overlapMs).toISOString();
  try {
    return await account.listResponses(formId, from, pageToken);
  } catch (error) {
    if (!(error instanceof GoogleFault) || error.kind !== "refused" || pageToken === "") throw error;
    return account.listResponses(formId, from, "");
  }
}

/** Notes that a form has had its turn, though it cannot be fetched. */
async function passOver(turn: Turn, run: Run, { form_id }: FormTurn, { kind }: GoogleFault): Promise<void> {
  const accessible = kind !== "refused";
  await sql`insert into google_forms as f (workspace_id, form_id, accessible, asked_at)
    select workspace_id, ${form_id}::text, false, ${turn.now()}::timestamptz from google_forms_integrations
    where workspace_id = ${run.workspaceId} and run = ${run.id}
    on conflict on constraint google_forms_pkey
      do update set accessible = f.accessible and ${accessible}, asked_at = excluded.asked_at`.execute(
    turn.db,
  );
}

function endOf(turn: Turn): RunEnd {
  const { fault, isRoundOver, hasFetched } = turn;
  const at = turn.now();
  const isEarly = !isRoundOver && fault === undefined;
  const waitMs = Math.max(quotaWaitMs, (fault?.retryAfterSeconds ?? 0) * 1000);
  const nextSyncMs = isEarly ? 0 : fault?.kind === "quota" ? waitMs : syncEveryMs;
  return {
    at,
    isRoundOver,
    hasFetched,
    nextSyncAt: new Date(at.getTime() + nextSyncMs),
    lastError: fault === undefined ? "" : errorSentences[fault.kind],
    isDisconnected: fault?.kind === "grant",
  };
}

const errorSentences: { readonly [Kind in GoogleFault["kind"]]: string } = {
  grant: "Google has ended the access to the account: connect it again.",
  refused: "",
  quota: "Google allows no more requests for now. The service goes on by itself.",
  away: "Google did not answer, or not in a way that can be read. The service tries again by itself.",
};
