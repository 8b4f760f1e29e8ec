import type { Classify } from "./classify.ts";
import type { Geography } from "./geography.ts";

/** What tells the class of a device and the country of an address. */
export interface RequestReader {
  readonly classify: Classify;
  readonly geography: Geography;
}

/**
 * This thread's reader. It opens when a workflow first needs it, so that plain redirects and the start of the service
 * do without its 15 MB.
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
