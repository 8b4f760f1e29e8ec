/** A number that a service shows of itself. */
export async function readMetric(service: { readonly metricsUrl: string }, name: string): Promise<number> {
  const answer = await fetch(service.metricsUrl);
  const text = await answer.text();
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`there is no metric ${name} in:\n${text}`);
  return Number(value);
}

/** The longest time, in milliseconds, that the service was busy in one go since this was asked before. */
export async function busyMs(service: { readonly metricsUrl: string }): Promise<number> {
  return 1000 * (await readMetric(service, "signpost_event_loop_busy_seconds"));
}

/** No call may keep others waiting for longer, in milliseconds (design budget of any single request). */
export const busyMsMax = 200;

/** The memory of the service's process, in MiB. */
export async function residentMib(service: { readonly metricsUrl: string }): Promise<number> {
  return (await readMetric(service, "process_resident_memory_bytes")) / 1024 / 1024;
}
