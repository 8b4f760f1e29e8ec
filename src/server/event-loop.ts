import { Gauge, type Registry } from "prom-client";

/** How often it is looked whether the loop comes round, in milliseconds. */
const roundMs = 20;

/**
 * Registers `signpost_event_loop_busy_seconds`: how long the event loop was held up by its own work, in one go, at the
 * longest since the metrics were read before. Time in which the machine ran something else does not count, so that a
 * busy machine is not taken for a slow call.
 */
export function watchEventLoop(registry: Registry): void {
  let longestMs = 0;
  let [roundAt, usedBefore] = [performance.now(), usedMs()];
  setInterval(() => {
    const [now, used] = [performance.now(), usedMs()];
    // A round that came in time tells of no work that others had to wait for.
    if (now - roundAt > 1.5 * roundMs)
      longestMs = Math.max(longestMs, Math.min(now - roundAt, used - usedBefore));
    [roundAt, usedBefore] = [now, used];
  }, roundMs).unref();
  new Gauge({
    name: "signpost_event_loop_busy_seconds",
    help: "The longest time that the event loop was busy in one go since the metrics were read before.",
    registers: [registry],
    collect() {
      this.set(longestMs / 1000);
      longestMs = 0;
    },
  });
}

/** The processor time of this thread; of the whole process where the runtime knows no threads. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}
