import { setTimeout as pause } from "node:timers/promises";
import { type Answer, said } from "./ask.ts";
import type { AcmeRequest, Authority } from "./authority.ts";
import { certificateRequest } from "./certificate-files.ts";
import { AcmeFault, accountsFault } from "./fault.ts";
import { type AccountKey, newKeyPair, pemOf } from "./keys.ts";
import { type Challenge, type ChallengeKind, type Order, readAuthorization, readOrder } from "./messages.ts";

/** An account at an authority. */
export interface Account {
  readonly authority: Authority;
  readonly url: string;
  readonly key: AccountKey;
}

export interface OrderTerms {
  readonly name: string;
  /** The kind of challenge to take where the authority offers it. */
  readonly kind: ChallengeKind;
  readonly profile: string | undefined;
  /** The renewal id of the certificate that this one follows; empty for none. */
  readonly replaces: string;
  /** Makes the answer to a challenge known to every process that the authority may ask. */
  readonly present: (token: string, authorization: string) => Promise<void>;
  /** Ends the order. */
  readonly signal: AbortSignal;
}

/** A chain as the authority gave it, and the private key of its first certificate, in PEM. */
export interface SignedChain {
  readonly chain: string;
  readonly privateKey: string;
}

/** The pauses between two questions about the same thing, in milliseconds, unless the authority asks for longer ones. */
const pollMs = { first: 250, most: 5_000 };
const kinds: readonly string[] = ["http-01", "tls-alpn-01"] satisfies ChallengeKind[];

/** Orders a certificate (RFC 8555, 7.4). Throws an `AcmeFault` when there will be none. */
export async function orderCertificate(account: Account, terms: OrderTerms): Promise<SignedChain> {
  const { signal, name } = terms;
  const request = (payload?: object): AcmeRequest => ({
    ...(payload !== undefined && { payload }),
    sign: account.key.signAs(account.url),
    signal,
  });
  const { authority } = account;
  const placed = await accountsFault(placeOrder(account, terms, request));
  const url = placed.headers.get("location") ?? "";
  for (const authorization of readOrder(placed.body).authorizations)
    await authorize(account, terms, { url: authorization, request });
  const readAgain = async () => {
    const answer = await authority.post(url, request());
    return { answer, order: readOrder(answer.body) };
  };
  const ready = await polled(readAgain, ({ order }) => order.status !== "pending", signal);
  const keys = await newKeyPair();
  if (ready.status === "ready") {
    const csr = (await certificateRequest(name, keys)).toString("base64url");
    await authority.post(ready.finalize, request({ csr }));
  } else throw unsigned(ready);
  const done = await polled(
    readAgain,
    ({ order }) => !["ready", "processing"].includes(order.status),
    signal,
  );
  if (done.status !== "valid" || done.certificate === undefined) throw unsigned(done);
  const accept = "application/pem-certificate-chain";
  const { body } = await authority.post(done.certificate, { ...request(), accept });
  return { chain: body, privateKey: await pemOf(keys.privateKey) };
}

type MakeRequest = (payload?: object) => AcmeRequest;

async function placeOrder(
  { authority }: Account,
  { name, profile, replaces, signal }: OrderTerms,
  request: MakeRequest,
): Promise<Answer> {
  const { newOrder, profiles, renewalInfo } = await authority.directory(signal);
  const order = {
    identifiers: [{ type: "dns", value: name }],
    ...(profile !== undefined && profiles.includes(profile) && { profile }),
  };
  if (replaces === "" || renewalInfo === undefined) return authority.post(newOrder, request(order));
  try {
    return await authority.post(newOrder, request({ ...order, replaces }));
  } catch (error) {
    // It was replaced already, or another authority signed it: then this is an order like any other.
    if (!(error instanceof AcmeFault) || !["alreadyReplaced", "malformed"].includes(error.problem))
      throw error;
    return authority.post(newOrder, request(order));
  }
}

/** Shows the authority that the name is served here. */
async function authorize(
  { authority, key }: Account,
  { kind, present, signal }: OrderTerms,
  { url, request }: { readonly url: string; readonly request: MakeRequest },
): Promise<void> {
  const read = async () => {
    const answer = await authority.post(url, request());
    return { answer, order: readAuthorization(answer.body) };
  };
  const { order: authorization } = await read();
  if (authorization.status === "valid") return;
  const challenge = choose(authorization.challenges, kind);
  await present(challenge.token, key.authorizationOf(challenge.token));
  await authority.post(challenge.url, request({}));
  const { status, challenges } = await polled(read, ({ order }) => order.status !== "pending", signal);
  if (status === "valid") return;
  const problem = challenges.find(
    ({ token, kind: tried }) => token === challenge.token && tried === challenge.kind,
  )?.problem;
  const message = `The certificate authority could not reach the name (${challenge.kind})${said(problem?.detail)}.`;
  throw new AcmeFault("refused", message, { problem: problem?.type ?? "" });
}

function choose(challenges: readonly Challenge[], kind: ChallengeKind): Challenge {
  const possible = challenges.filter((challenge) => kinds.includes(challenge.kind));
  const challenge = possible.find((offered) => offered.kind === kind) ?? possible[0];
  if (challenge !== undefined) return challenge;
  throw new AcmeFault(
    "refused",
    "The certificate authority offers no challenge that this service can answer.",
  );
}

function unsigned({ status, problem }: Order): AcmeFault {
  const message = `The certificate authority did not sign (${status.slice(0, 20)})${said(problem?.detail)}.`;
  return new AcmeFault("refused", message, { problem: problem?.type ?? "" });
}

/** Reads again, with growing pauses, until what is read is settled. */
async function polled<Thing>(
  read: () => Promise<{ readonly answer: Answer; readonly order: Thing }>,
  isSettled: (read: { readonly order: Thing }) => boolean,
  signal: AbortSignal,
): Promise<Thing> {
  for (let waitMs = pollMs.first; ; waitMs = Math.min(2 * waitMs, pollMs.most)) {
    const found = await read();
    if (isSettled(found)) return found.order;
    try {
      await pause(Math.max(waitMs, found.answer.retryAfterMs ?? 0), undefined, { signal });
    } catch (cause) {
      throw new AcmeFault("refused", "The certificate authority did not finish the order in time.", {
        cause,
      });
    }
  }
}
