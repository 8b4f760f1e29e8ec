import { createHash, randomUUID } from "node:crypto";
import type { Db } from "../db/open.ts";
import {
  type AttemptLimits,
  returnPasswordAttempt,
  type Trier,
  takePasswordAttempt,
} from "../db/password-attempts.ts";
import { networkOf, siteOf } from "../lib/client-address.ts";
import { noWorkspace } from "../model/no-workspace.ts";

const quarterMs = 15 * 60_000;
const hourMs = 60 * 60_000;
/** Of tries that each have a number of their own. */
const single = { max: 1, windowMs: hourMs };
const never = { from: 1_000_000, step: 1, doublingsMax: 0, secondsMax: 1 };

interface Limits {
  readonly account: AttemptLimits;
  readonly network: AttemptLimits;
}

/** The limits of an account, and how many tries one network has in an hour for all accounts. */
function limitsOf(account: AttemptLimits, ofNetwork: number): Limits {
  const network = { ofVisit: single, ofNetwork: { max: ofNetwork, windowMs: hourMs }, pauses: never };
  return { account, network };
}

/**
 * Wrong passwords and codes: 5 for an account from one address in 15 minutes and 20 in an hour, 30 from one network for
 * all accounts. From 20 in an hour on, an account pauses after each, for at most a minute, so that nobody locks others
 * out for good.
 */
const wrongTries = limitsOf(
  {
    ofVisit: { max: 5, windowMs: quarterMs },
    ofNetwork: { max: 20, windowMs: hourMs },
    pauses: { from: 20, step: 10, doublingsMax: 6, secondsMax: 60 },
  },
  30,
);

/** Mails that strangers ask for: 3 to an address from one network in an hour, 20 from one network to all addresses. */
const askedMails = limitsOf(
  {
    ofVisit: { max: 3, windowMs: hourMs },
    ofNetwork: { max: 3, windowMs: hourMs },
    pauses: { from: 3, step: 1, doublingsMax: 12, secondsMax: 3_600 },
  },
  20,
);

/**
 * Workspaces that agents make: 5 for an address from one network in an hour, 10 from one network for all addresses. From 10
 * in an hour on, an address pauses after each, for at most a minute.
 */
const registrations = limitsOf(
  {
    ofVisit: { max: 5, windowMs: hourMs },
    ofNetwork: { max: 5, windowMs: hourMs },
    pauses: { from: 10, step: 5, doublingsMax: 6, secondsMax: 60 },
  },
  10,
);

/** Who tries, and at which account. The account need not exist: unknown addresses cost the same. */
export interface SignInTrier {
  readonly email: string;
  readonly address: string;
}

/** A try that may be made, or whose limit stands in its way and for how long. */
export type Try =
  | { readonly isAllowed: true; readonly giveBack: () => Promise<void> }
  | { readonly isAllowed: false; readonly by: "account" | "network"; readonly seconds: number };

/** Takes a try at a password or code, before anything is compared. It counts as wrong until it is given back. */
export function takeSignInTry(db: Db, trier: SignInTrier, now: Date): Promise<Try> {
  return take(db, trier, now, { name: "sign-in", limits: wrongTries });
}

/** Takes one of the mails that anybody may ask for without signing in. */
export function takeMailTry(db: Db, trier: SignInTrier, now: Date): Promise<Try> {
  return take(db, trier, now, { name: "mail", limits: askedMails });
}

/** Takes one of the registrations that any agent may make. It is never given back. */
export function takeRegistrationTry(db: Db, trier: SignInTrier, now: Date): Promise<Try> {
  return take(db, trier, now, { name: "registration", limits: registrations });
}

/** The rows stand in the table of password tries, which every process shares. */
async function take(
  db: Db,
  { email, address }: SignInTrier,
  now: Date,
  { name, limits }: { readonly name: string; readonly limits: Limits },
): Promise<Try> {
  // Each try at a network's row has a number of its own, so that a right one takes back no wrong one of the same moment.
  const network = rowOf(`${name} network ${networkOf(address)}`, address, randomUUID());
  const account = rowOf(`${name} account ${email}`, address);
  const networkSeconds = await takePasswordAttempt(db, network, now, limits.network);
  if (networkSeconds > 0) return { isAllowed: false, by: "network", seconds: networkSeconds };
  const seconds = await takePasswordAttempt(db, account, now, limits.account);
  if (seconds > 0) {
    await returnPasswordAttempt(db, network, now);
    return { isAllowed: false, by: "account", seconds };
  }
  const giveBack = async () => {
    await returnPasswordAttempt(db, account, now);
    await returnPasswordAttempt(db, network, now);
  };
  return { isAllowed: true, giveBack };
}

function rowOf(name: string, address: string, eventId = ""): Trier {
  const hex = createHash("sha256").update(name).digest("hex");
  const stepId = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  return { workspaceId: noWorkspace, linkId: noWorkspace, stepId, eventId, address };
}

/** What one network may do at most so often in an hour, over all processes. */
export interface NetworkOrder {
  /** What it does, such as `oauth registration`. */
  readonly name: string;
  readonly address: string;
  readonly max: number;
}

/** Counts one deed of a network. Returns 0, or the seconds until the next one is allowed; then nothing was counted. */
export function takeNetworkTry(db: Db, { name, address, max }: NetworkOrder, now: Date): Promise<number> {
  const row = rowOf(`${name} network ${networkOf(address)}`, address, randomUUID());
  const limits = { ofVisit: single, ofNetwork: { max, windowMs: hourMs }, pauses: never };
  return takePasswordAttempt(db, row, now, limits);
}

/** Stands for every network where a limit is one wherever somebody is. */
export const anyAddress = "0.0.0.0";

/**
 * Counts one deed that any stranger may do and that leaves rows behind, once its network may do it. Where a network may do it
 * `max` times in an hour, a site with many networks may 5 times as often, and all together 50 times as often. Returns 0, or the
 * seconds until the next one is allowed.
 */
export async function takeStrangersTry(
  db: Db,
  { name, address, max }: NetworkOrder,
  now: Date,
): Promise<number> {
  const orders = [
    { name: `${name} of ${siteOf(address)}`, address: anyAddress, max: 5 * max },
    { name: `${name} of all`, address: anyAddress, max: 50 * max },
  ];
  for (const order of orders) {
    const seconds = await takeNetworkTry(db, order, now);
    if (seconds > 0) return seconds;
  }
  return 0;
}
