import { Gauge, type Registry } from "prom-client";

/** The time between two measurements of the loop, in milliseconds. */
const roundMs = 20;

/**
 * Registers `signpost_event_loop_busy_seconds`: the longest time that the event loop's own work held it up in one go,
 * since the metrics were last read. Time in which the machine ran something else does not count, so a busy machine does
 * not look like a slow call.
 */
export function watchEventLoop(registry: Registry): void {
  let longestMs = 0;
  let [roundAt, usedBefore] = [performance.now(), usedMs()];
  setInterval(() => {
    const [now, used] = [performance.now(), usedMs()];
    // A measurement that comes in time means that no other work had to wait.
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

/** The processor time of this thread, or of the whole process where the runtime cannot measure threads. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}
