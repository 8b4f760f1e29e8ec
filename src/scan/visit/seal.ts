import { seal, unseal } from "../../lib/sealed.ts";
import { lbidParameter } from "../../model/links/redirect-target.ts";
import type { VisitKey, VisitState } from "./state.ts";

/*
 * A visit travels with its visitor. Pages and the addresses of steps carry a seal that says where the visit stands, so
 * that any process can take the next step without the database. Only this service can make or read a seal. A seal opens
 * only for its own visit.
 */

/** The query parameter in which pages and addresses of steps carry the seal. */
export const sealParameter = "visit";

/** A seal of another version does not open, and its visitor begins a new visit. */
const sealVersion = 1;

/** The longest seal, in characters. A visit that does not fit gets no seal, and its steps ask the database. */
export const sealLengthMax = 1_024;

/**
 * The age up to which a seal opens, in milliseconds. A visit is over much sooner, after 30 minutes without its visitor.
 */
const sealAgeMsMax = 30 * 24 * 60 * 60_000;

export interface VisitSeals {
  /** Returns the seal of a visit. It is empty when the visit stands at no page, or when its state is too long. */
  seal(key: VisitKey, state: VisitState): string;
  /** Opens a seal. Undefined for a seal that is damaged, too old, or of another visit, link or workspace. */
  open(key: VisitKey, text: string, now: Date): VisitState | undefined;
}

/** Stands for a missing cookie hash, and is as long as one, so that HEAD and GET report pages of the same length. */
const noCookie = "0".repeat(32);

type Sealed = [
  stepId: string,
  isOver: 0 | 1,
  answers: number,
  activeAtMs: number,
  /** The time from the opening of the step to `activeAtMs`. */
  openedForMs: number,
  level: VisitState["level"],
  isReturning: 0 | 1,
  isTypeKnown: 0 | 1,
  cookieHash: string,
  query: string,
  saved: VisitState["saved"],
];

/** Seals visits with a key of 32 bytes, which must serve no other purpose. */
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

/** The purpose, version and visit to which a seal is bound. */
function boundTo({ workspaceId, linkId, eventId }: VisitKey): string {
  return `visit ${sealVersion} ${workspaceId}/${linkId}/${eventId}`;
}

/** Whether the visitor may be at a page: that of an interaction, or that of an exit. */
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
  // Only this version of this file writes such text.
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
