/**
 * Returns what `look` returns. Rejects when `look` takes longer than `milliseconds`, and then aborts the signal to tell
 * `look` that the caller has stopped waiting.
 */
export async function within<Value>(
  milliseconds: number,
  look: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController();
  const over = Promise.withResolvers<never>();
  late.signal.addEventListener("abort", () => over.reject(late.signal.reason), { once: true });
  const timer = setTimeout(
    () => late.abort(new Error(`the database did not answer within ${milliseconds} ms`)),
    milliseconds,
  );
  try {
    return await Promise.race([look(late.signal), over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
