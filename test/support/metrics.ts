/** Reads a number of a service's metrics. */
export async function readMetric(service: { readonly metricsUrl: string }, name: string): Promise<number> {
  const answer = await fetch(service.metricsUrl);
  const text = await answer.text();
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`there is no metric ${name} in:\n${text}`);
  return Number(value);
}

/** The longest time, in milliseconds, that the service was busy without a pause since the last read. */
export async function busyMs(service: { readonly metricsUrl: string }): Promise<number> {
  return 1000 * (await readMetric(service, "signpost_event_loop_busy_seconds"));
}

/**
 * The most milliseconds that one call may block others. The budget of a request is 200 ms; a processor that runs other
 * work beside the test does the same work in up to twice the time.
 */
export const busyMsMax = 400;

/** The memory of the service's process, in MiB. */
export async function residentMib(service: { readonly metricsUrl: string }): Promise<number> {
  return (await readMetric(service, "process_resident_memory_bytes")) / 1024 / 1024;
}
