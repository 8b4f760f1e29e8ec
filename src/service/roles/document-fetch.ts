import type { SafeFetchOptions } from "../../lib/fetch/safe-fetch.ts";
import type { FetchDocument } from "../../oauth/client-documents.ts";

/** Fetches documents of programs from addresses that anybody may have given. A fetch is rare, so it has connections of its own. */
export function createDocumentFetch(options: SafeFetchOptions): FetchDocument {
  return async (address, bytesMax) => {
    const { createSafeFetch } = await import("../../lib/fetch/safe-fetch.ts");
    const fetch = createSafeFetch(options);
    try {
      const outcome = await fetch.send({
        ...{ address, method: "GET", cleartext: false, keepBytes: bytesMax + 1 },
        headers: { accept: "application/json" },
      });
      if (outcome.kind !== "answered" || outcome.status !== 200 || outcome.head.length > bytesMax)
        return undefined;
      return outcome.head.toString();
    } finally {
      await fetch.close();
    }
  };
}
