import type { Handler } from "./listen.ts";

/** Loads a handler with its first request, so that the start does not wait for it. */
export function whenLoaded(load: () => Promise<Handler>): Handler {
  let loaded: Handler | undefined;
  let loading: Promise<Handler> | undefined;
  return (req, res) => {
    if (loaded !== undefined) {
      loaded(req, res);
      return;
    }
    loading ??= load();
    loading.then(
      (handler) => {
        loaded = handler;
        handler(req, res);
      },
      () => res.destroy(),
    );
  };
}
