import { type Answer, ask, problemIn, succeeded } from "./ask.ts";
import { AcmeFault } from "./fault.ts";
import { type Directory, readDirectory } from "./messages.ts";

/** Signs a request: with the account's address, or with its bare key before it has one. */
export type Sign = (
  header: { readonly nonce: string; readonly url: string },
  payload: Uint8Array,
) => Promise<object>;

/** One authority, as this process speaks with it. */
export interface Authority {
  directory(signal?: AbortSignal): Promise<Directory>;
  /** Sends a signed request; without a payload it only reads (RFC 8555, 6.3). Throws an `AcmeFault` unless it succeeds. */
  post(url: string, request: AcmeRequest): Promise<Answer>;
  /** Reads what anybody may read. */
  get(url: string, signal?: AbortSignal): Promise<Answer>;
}

/** The authority of a directory. */
export type AuthorityOf = (directory: string) => Authority;

export interface AcmeRequest {
  readonly payload?: object;
  readonly sign: Sign;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** How long a directory is believed, in milliseconds. */
const directoryMs = 60 * 60 * 1000;
/** An authority may forget its nonces at any time. */
const nonceTries = 10;
const noncesMax = 50;

/** Speaks with the authority of a directory. Nothing is asked before the first call. */
export function createAuthority(address: string, now: () => Date): Authority {
  const nonces: string[] = [];
  let known: { readonly directory: Promise<Directory>; readonly until: number } | undefined;

  function directory(signal?: AbortSignal): Promise<Directory> {
    const at = now().getTime();
    if (known !== undefined && at < known.until) return known.directory;
    const asked = ask(address, { now, ...(signal && { signal }) }).then((answer) =>
      readDirectory(succeeded(answer).body),
    );
    const current = { directory: asked, until: at + directoryMs };
    known = current;
    // What failed is asked again.
    asked.catch(() => {
      if (known === current) known = undefined;
    });
    return asked;
  }

  async function nonce(signal?: AbortSignal): Promise<string> {
    const kept = nonces.pop();
    if (kept !== undefined) return kept;
    const { newNonce } = await directory(signal);
    const answer = succeeded(
      await ask(newNonce, { init: { method: "HEAD" }, now, ...(signal && { signal }) }),
    );
    keepNonce(answer);
    return nonces.pop() ?? fail();
  }

  function keepNonce({ headers }: Answer): void {
    const fresh = headers.get("replay-nonce");
    if (fresh !== null && /^[A-Za-z0-9_-]{1,500}$/.test(fresh) && nonces.length < noncesMax)
      nonces.push(fresh);
  }

  async function postOnce(url: string, { payload, sign, accept, signal }: AcmeRequest): Promise<Answer> {
    const body = await sign(
      { nonce: await nonce(signal), url },
      Buffer.from(payload === undefined ? "" : JSON.stringify(payload)),
    );
    const headers = { "content-type": "application/jose+json", ...(accept !== undefined && { accept }) };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await ask(url, { init, now, ...(signal && { signal }) });
    keepNonce(answer);
    return answer;
  }

  return {
    directory,
    async post(url, request) {
      for (let tried = 1; ; tried++) {
        const answer = await postOnce(url, request);
        if (answer.status < 400 || problemIn(answer)?.type !== "badNonce" || tried === nonceTries)
          return succeeded(answer);
      }
    },
    get: async (url, signal) => succeeded(await ask(url, { now, ...(signal && { signal }) })),
  };
}

function fail(): never {
  throw new AcmeFault("away", "The certificate authority gives no nonces.");
}
