import { parseArgs } from "node:util";
import { startServiceProcess } from "../bench/service-process.ts";
import { fuzz } from "./fuzz.ts";

/*
 * Sends changed requests to a service of its own: `npm run fuzz -- --requests 100000 --seed 1`. Exits non-zero when a
 * request is answered by a fault of ours or blocks others for over 200 ms, or when the process grows by over 64 MiB.
 */
const { values } = parseArgs({
  options: { requests: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
});
const [requests, seed] = [Number(values.requests), Number(values.seed)];
const service = await startServiceProcess({ env: { RATE_LIMIT_PUBLISHABLE: "0", LOG_LEVEL: "error" } });
try {
  const { port, metricsUrl } = service;
  const target = { port, metricsUrl, token: service.credentials.accessToken };
  const onProgress = (sent: number) => {
    if (sent % 5_000 === 0) console.error(`${sent} requests`);
  };
  const { answers, faults, busyMs, grownMib } = await fuzz(target, { requests, seed, onProgress });
  for (const fault of faults.slice(0, 20)) console.log(`${fault}\n`);
  for (const [answer, count] of [...answers].toSorted())
    console.log(`${String(count).padStart(8)} ${answer}`);
  console.log(
    `seed ${seed}: ${requests} requests, ${faults.length} faults, busy for ${busyMs.toFixed()} ms at the longest, ` +
      `grown by ${grownMib.toFixed()} MiB`,
  );
  process.exitCode = faults.length > 0 || grownMib > 64 ? 1 : 0;
} finally {
  await service.remove();
}
