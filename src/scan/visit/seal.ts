import { seal, unseal } from "../../lib/sealed.ts";
import { lbidParameter } from "../../model/links/redirect-target.ts";
import type { VisitKey, VisitState } from "./state.ts";

/*
 * A visit travels with its visitor: pages and the addresses of steps carry where it stands, sealed, so that any process takes
 * the next step without asking the database. Nobody but us can read or make a seal, and it opens for its own visit alone.
 */

/** The query parameter in which pages and addresses of steps carry the seal. */
export const sealParameter = "visit";

/** Seals of another version are none: their visitors begin a new visit. */
const sealVersion = 1;

/** In characters. What does not fit goes without a seal, and by the database. */
export const sealLengthMax = 1_024;

/** How long a seal opens, in milliseconds. A visit that nobody was at for 30 minutes is over before. */
const sealAgeMsMax = 30 * 24 * 60 * 60_000;

export interface VisitSeals {
  /** The seal of a visit; empty for a visit that has no page to be at, and for one that does not fit. */
  seal(key: VisitKey, state: VisitState): string;
  /** What is in a seal; undefined for one that is damaged, too old, or of another visit, link or workspace. */
  open(key: VisitKey, text: string, now: Date): VisitState | undefined;
}

/** As long as any other, so that HEAD is told the length of the page that GET gets. */
const noCookie = "0".repeat(32);

type Sealed = [
  stepId: string,
  isOver: 0 | 1,
  answers: number,
  activeAtMs: number,
  /** By which it was opened before `activeAtMs`. */
  openedForMs: number,
  level: VisitState["level"],
  isReturning: 0 | 1,
  isTypeKnown: 0 | 1,
  cookieHash: string,
  query: string,
  saved: VisitState["saved"],
];

/** Seals with a key of 32 bytes that is for nothing else. */
export function createVisitSeals(key: Uint8Array): VisitSeals {
  return {
    seal(visit, state) {
      if (!hasPage(state)) return "";
      const plain = JSON.stringify(fieldsOf(state));
      if (plain.length > sealLengthMax) return "";
      const sealed = seal(Buffer.from(plain), key, boundTo(visit));
      const text = Buffer.concat([Buffer.of(sealVersion), sealed]).toString("base64url");
      return text.length > sealLengthMax ? "" : text;
    },
    open(visit, text, now) {
      if (text.length > sealLengthMax) return undefined;
      const bytes = Buffer.from(text, "base64url");
      if (bytes[0] !== sealVersion) return undefined;
      const state = openedWith(bytes.subarray(1), key, boundTo(visit));
      return state === undefined || now.getTime() - state.activeAtMs > sealAgeMsMax ? undefined : state;
    },
  };
}

/** The query of a step's address. */
export function visitQuery(lbid: string, sealed: string): string {
  const own = `${lbidParameter}=${lbid}`;
  return sealed === "" ? own : `${own}&${sealParameter}=${sealed}`;
}

/** What a seal belongs to, and what it is. */
function boundTo({ workspaceId, linkId, eventId }: VisitKey): string {
  return `visit ${sealVersion} ${workspaceId}/${linkId}/${eventId}`;
}

/** Whether there is a page at which the visitor may be: of an interaction, or of an exit. */
function hasPage({ outcome, destination }: VisitState): boolean {
  return outcome === "IN_PROGRESS" || (outcome === "COMPLETED" && destination === "");
}

function fieldsOf(state: VisitState): Sealed {
  return [
    state.stepId,
    state.outcome === "COMPLETED" ? 1 : 0,
    state.answers,
    state.activeAtMs,
    state.activeAtMs - state.openedAtMs,
    state.level,
    state.visitType === "RETURNING" ? 1 : 0,
    state.isTypeKnown ? 1 : 0,
    state.cookieHash || noCookie,
    state.query,
    state.saved,
  ];
}

function openedWith(sealed: Uint8Array, key: Uint8Array, bound: string): VisitState | undefined {
  let plain: string;
  try {
    plain = unseal(sealed, key, bound).toString();
  } catch {
    return undefined;
  }
  // Nobody but this file, in this version, has written it.
  const fields = JSON.parse(plain) as Sealed;
  const [stepId, isOver, answers, activeAtMs, openedForMs, level] = fields;
  const [, , , , , , isReturning, isTypeKnown, cookieHash, query, saved] = fields;
  return {
    stepId,
    outcome: isOver === 1 ? "COMPLETED" : "IN_PROGRESS",
    destination: "",
    answers,
    activeAtMs,
    openedAtMs: activeAtMs - openedForMs,
    level,
    visitType: isReturning === 1 ? "RETURNING" : "FIRST",
    isTypeKnown: isTypeKnown === 1,
    cookieHash: cookieHash === noCookie ? "" : cookieHash,
    query,
    saved,
  };
}
