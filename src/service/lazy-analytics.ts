import type pg from "pg";
import type { Logger } from "pino";
import type { SegmentAnalytics } from "../analytics/reading/driver.ts";
import type { Config } from "./config.ts";

/** Loads the analytics with the first question. Their thread begins with it, too. */
export function lazyAnalytics(
  config: Config,
  {
    connection,
    now,
    log,
  }: { readonly connection: pg.ClientConfig; readonly now: () => Date; readonly log: Logger },
): SegmentAnalytics {
  let loading: Promise<SegmentAnalytics> | undefined;
  const load = async () => {
    const { segmentAnalytics } = await import("../analytics/reading/driver.ts");
    return segmentAnalytics({
      connection,
      now,
      cacheBytes: config.analyticsCacheBytes,
      timeoutMs: config.requestTimeoutMs,
      onFault: (fault) => log.error({ fault }, "the analytics mended something"),
    });
  };
  return {
    async ask(...question) {
      loading ??= load().catch((error: unknown) => {
        // The next question tries again.
        loading = undefined;
        throw error;
      });
      return (await loading).ask(...question);
    },
    async close() {
      const loaded = await loading?.catch(() => undefined);
      await loaded?.close();
    },
  };
}
