import { createSecureContext, type SecureContext } from "node:tls";
import { lruCache } from "../lib/lru-cache.ts";
import type { KeyBox } from "./key-box.ts";
import type { LoadedCertificate } from "./load-certificate.ts";

/** Certificate chain and key in PEM. */
export interface KeyPair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Makes kept certificates ready for handshakes. Gives nothing for one that is over, or whose key cannot be opened. */
export interface ReadyContexts {
  contextOf(name: string, certificate: LoadedCertificate | undefined): SecureContext | undefined;
  /** The same object until the certificate changes. */
  pairOf(name: string, certificate: LoadedCertificate | undefined): KeyPair | undefined;
}

/** How many certificates are kept ready, at 40 kB each. Making one ready takes 0.3 ms. */
const readySize = 1_000;

export function createReadyContexts(deps: {
  readonly keyBox: KeyBox;
  readonly nowMs: () => number;
  readonly onTrouble: (error: unknown) => void;
}): ReadyContexts {
  const { keyBox, nowMs, onTrouble } = deps;
  const contexts = lruCache<{ readonly chain: string; readonly context: SecureContext }>(readySize);
  let last: { readonly chain: string; readonly pair: KeyPair } | undefined;

  /** Certificates that are valid, as long as nothing is wrong with them. */
  function using<Made>(
    certificate: LoadedCertificate | undefined,
    make: (certificate: LoadedCertificate) => Made,
  ): Made | undefined {
    if (certificate === undefined || certificate.notAfter.getTime() <= nowMs()) return undefined;
    try {
      return make(certificate);
    } catch (error) {
      onTrouble(error);
      return undefined;
    }
  }

  return {
    contextOf: (name, kept) =>
      using(kept, ({ chain, sealedKey }) => {
        const before = contexts.get(name);
        if (before?.chain === chain) return before.context;
        const key = keyBox.open(sealedKey, name);
        const context = createSecureContext({ cert: chain, key, minVersion: "TLSv1.2" });
        contexts.set(name, { chain, context });
        return context;
      }),
    pairOf: (name, kept) =>
      using(kept, ({ chain, sealedKey }) => {
        if (last?.chain !== chain) last = { chain, pair: { cert: chain, key: keyBox.open(sealedKey, name) } };
        return last.pair;
      }),
  };
}
