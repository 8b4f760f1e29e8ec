import { ModelFault } from "./model.ts";

export interface FetchBounds {
  /** The most bytes of an answer. */
  readonly bytes: number;
  /** The most time without a byte, in milliseconds. */
  readonly silenceMs: number;
}

/**
 * A fetch for a server that may be slow, silent or endless. An answer ends with a `ModelFault` when nothing comes for too long,
 * or too much. It follows no redirect, because the key is for one address.
 */
export function boundedFetch({ bytes, silenceMs }: FetchBounds): typeof fetch {
  return async (address, init) => {
    const silence = new AbortController();
    const late = () => silence.abort(new ModelFault("late", "the model was silent for too long"));
    let timer = setTimeout(late, silenceMs);
    const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
    try {
      const answer = await fetch(address, { ...init, signal, redirect: "error" });
      let received = 0;
      const counted = answer.body?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            clearTimeout(timer);
            timer = setTimeout(late, silenceMs);
            received += chunk.length;
            if (received > bytes) throw new ModelFault("garbled", "the model's answer has no end");
            controller.enqueue(chunk);
          },
          flush: () => clearTimeout(timer),
        }),
        { signal },
      );
      if (counted === undefined) clearTimeout(timer);
      return new Response(counted ?? null, { status: answer.status, headers: answer.headers });
    } catch (error) {
      clearTimeout(timer);
      throw signal.aborted ? signal.reason : error;
    }
  };
}
