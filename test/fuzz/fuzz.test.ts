import { expect, test } from "vitest";
import { busyMsMax } from "../support/metrics.ts";
import { startService } from "../support/start-service.ts";
import { fuzz } from "./fuzz.ts";

const requests = 1_000;

test(`${requests} damaged requests over every protocol are answered without a fault of ours, and block no other request`, {
  timeout: 300_000,
}, async () => {
  const service = await startService();
  try {
    const { port, metricsUrl } = service;
    const target = { port, metricsUrl, token: service.credentials.accessToken };
    const { answers, faults, busyMs } = await fuzz(target, { requests, seed: 20_261_122 });
    expect(faults).toEqual([]);
    expect(busyMs).toBeLessThan(busyMsMax);
    expect([...answers.values()].reduce((sum, count) => sum + count)).toBe(requests);
    for (const door of ["REST 200", "Connect JSON 200", "Connect proto 200", "gRPC OK", "scan 302", "step 4"])
      expect(
        [...answers.keys()].some((key) => key.startsWith(door)),
        door,
      ).toBe(true);
    expect(service.log().filter(({ level }) => level >= 50)).toEqual([]);
  } finally {
    await service.stop();
  }
});
