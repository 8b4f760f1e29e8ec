import { createPrivateKey, X509Certificate } from "node:crypto";
import { forgetAccount, openAccount } from "./acme/accounts.ts";
import { away } from "./acme/ask.ts";
import type { AuthorityOf } from "./acme/authority.ts";
import { challengeCertificate, renewalIdOf } from "./acme/certificate-files.ts";
import { AcmeFault } from "./acme/fault.ts";
import { type Account, orderCertificate, type SignedChain } from "./acme/order.ts";
import { keepChallenge } from "./challenges.ts";
import type { CertificateDeps } from "./deps.ts";
import {
  countSilence,
  type KeptCertificate,
  noteAnswer,
  pauseAuthority,
  pausesOf,
  type Turn,
} from "./queries.ts";
import { earlier, later } from "./renewal.ts";
import { awayUntil, nextQuestion, renewalMoment } from "./schedule.ts";

/** How an order ended: signed, failed at an authority that answers, or with nobody to ask. */
export type Outcome =
  | { readonly kind: "signed"; readonly kept: KeptCertificate; readonly lookAt: Date }
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly isCounted: boolean;
      /** How long an authority asks this name to wait, in milliseconds. */
      readonly retryAfterMs: number;
      /** When an authority can be asked again. */
      readonly until: Date;
    };

/** How long one authority may take for an order, in milliseconds. */
const orderMs = 120_000;
/** How long an authority is spared that limits the orders of one name; it may limit those of all. */
const spareMs = 60_000;
/** How long a name waits when its authority limits orders and does not say how long. */
const limitedMs = 60 * 60_000;
/** A chain that no handshake should have to carry. */
const chainLengthMax = 32 * 1024;

interface Failure {
  readonly fault: AcmeFault;
  readonly until: Date;
}

/** Makes what orders a certificate at the first authority that signs one. */
export function createOrderAnywhere(
  deps: CertificateDeps,
  authorityOf: AuthorityOf,
): (turn: Turn, signal: AbortSignal) => Promise<Outcome> {
  const { db, now, config } = deps;
  return async (turn, signal) => {
    const paused = await pausesOf(db, config.directories, now());
    const failures: Failure[] = [];
    for (const directory of config.directories) {
      const until = paused.get(directory);
      if (until !== undefined) {
        failures.push({ fault: away(directory), until });
        continue;
      }
      try {
        const signed = await orderAt(deps, authorityOf, { directory, turn, signal });
        await noteAnswer(db, directory);
        return signed;
      } catch (error) {
        if (!(error instanceof AcmeFault)) throw error;
        failures.push({ fault: error, until: await spare(deps, directory, error) });
      }
    }
    return failed(failures, now());
  };
}

function failed(failures: readonly Failure[], at: Date): Outcome {
  const counted = failures.filter(({ fault }) => fault.kind !== "away");
  const [shown] = counted.length > 0 ? counted : failures;
  const waits = counted.map(({ fault }) => fault.retryAfterMs ?? (fault.kind === "limited" ? limitedMs : 0));
  return {
    kind: "failed",
    message: shown?.fault.message ?? "",
    isCounted: counted.length > 0,
    retryAfterMs: Math.max(0, ...waits),
    until: failures.map(({ until }) => until).reduce(earlier, nextQuestion(at)),
  };
}

/** Leaves an authority alone that is away or wants patience. Returns until when. */
async function spare({ db, now }: CertificateDeps, directory: string, fault: AcmeFault): Promise<Date> {
  const at = now();
  if (fault.kind === "away" || (fault.kind === "limited" && fault.problem !== "rateLimited")) {
    const until = awayUntil(await countSilence(db, directory), at, fault.retryAfterMs);
    await pauseAuthority(db, directory, until);
    return until;
  }
  const until = new Date(at.getTime() + spareMs);
  if (fault.kind === "limited") await pauseAuthority(db, directory, until);
  return until;
}

interface Place {
  readonly directory: string;
  readonly turn: Turn;
  readonly signal: AbortSignal;
}

async function orderAt(deps: CertificateDeps, authorityOf: AuthorityOf, place: Place): Promise<Outcome> {
  const { now } = deps;
  const { directory, turn } = place;
  const signal = AbortSignal.any([place.signal, AbortSignal.timeout(orderMs)]);
  const authority = authorityOf(directory);
  const signed = await withAccount(deps, { ...place, signal }, authorityOf, (account) =>
    orderCertificate(account, {
      name: turn.name,
      // What failed is tried the other way.
      kind: deps.kinds[turn.failures % deps.kinds.length] ?? deps.kinds[0],
      profile: deps.config.profile,
      replaces: turn.directory === directory ? turn.renewal_id : "",
      signal,
      present: async (token, authorization) => {
        const answer = await challengeCertificate(turn.name, authorization, now());
        const { chain, privateKey: private_key } = answer;
        await keepChallenge(
          deps.db,
          { name: turn.name, token, key_authorization: authorization, chain, private_key },
          now(),
        );
      },
    }),
  );
  const kept = keptOf(deps, place, signed);
  const { renewalInfo } = await authority.directory(signal);
  const asks = kept.renewalId !== "" && renewalInfo !== undefined;
  const lookAt = asks ? earlier(kept.renewAt, nextQuestion(now())) : kept.renewAt;
  return { kind: "signed", kept, lookAt: later(lookAt, nextQuestion(now(), 0)) };
}

/** Orders with the account at an authority; once more with another account when the authority does not know it. */
async function withAccount<Value>(
  deps: CertificateDeps,
  { directory, signal }: Place,
  authorityOf: AuthorityOf,
  order: (account: Account) => Promise<Value>,
): Promise<Value> {
  const authority = authorityOf(directory);
  const once = async () => {
    let url = "";
    try {
      const account = await openAccount(
        { ...deps, email: deps.config.email },
        { directory, authority, signal },
      );
      url = account.url;
      return await order(account);
    } catch (error) {
      if (error instanceof AcmeFault && error.kind === "account")
        await forgetAccount(deps.db, directory, url);
      throw error;
    }
  };
  try {
    return await once();
  } catch (error) {
    if (!(error instanceof AcmeFault) || error.kind !== "account") throw error;
    return once();
  }
}

/** Checks what an authority gave, and seals its key. */
function keptOf(
  { keyBox, now }: CertificateDeps,
  { directory, turn }: Place,
  signed: SignedChain,
): KeptCertificate {
  const { chain, privateKey } = signed;
  const { name } = turn;
  const certificate = certificateIn(chain);
  const fits =
    certificate?.checkHost(name) !== undefined && certificate.checkPrivateKey(createPrivateKey(privateKey));
  if (certificate === undefined || !fits)
    throw new AcmeFault("refused", "The certificate authority signed something else than was ordered.");
  const { validFromDate: notBefore, validToDate: notAfter } = certificate;
  // Its domain would order another one at once, and again.
  if (notAfter <= now())
    throw new AcmeFault(
      "refused",
      "The certificate authority signed a certificate that is over already; the clock of this service may be wrong.",
    );
  return {
    chain,
    sealedKey: keyBox.seal(privateKey, name),
    notBefore,
    notAfter,
    directory,
    renewalId: renewalIdOf(chain),
    renewAt: renewalMoment(name, { notBefore, notAfter }),
  };
}

function certificateIn(chain: string): X509Certificate | undefined {
  if (chain.length > chainLengthMax) return undefined;
  try {
    return new X509Certificate(chain);
  } catch {
    return undefined;
  }
}
