import type { Classify } from "./classify.ts";
import type { Geography } from "./geography.ts";

/** Classifies devices, and finds the countries of addresses. */
export interface RequestReader {
  readonly classify: Classify;
  readonly geography: Geography;
}

/**
 * This thread's reader, which takes 15 MB. It opens when a workflow first needs it, so plain redirects and the start of
 * the service do not load it.
 */
export interface LazyReader {
  /** Undefined until it has been opened. */
  peek(): RequestReader | undefined;
  open(): Promise<RequestReader>;
}

/** @param cityDatabase path of a city database in MaxMind's format. */
export function lazyReader(cityDatabase: string | undefined): LazyReader {
  let opened: RequestReader | undefined;
  let opening: Promise<RequestReader> | undefined;

  async function load(): Promise<RequestReader> {
    const [{ createClassifier }, { openGeography }] = await Promise.all([
      import("./classify.ts"),
      import("./geography.ts"),
    ]);
    opened = { classify: createClassifier(), geography: await openGeography(cityDatabase) };
    return opened;
  }

  return {
    peek: () => opened,
    open() {
      opening ??= load().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
  };
}
