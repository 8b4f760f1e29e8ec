import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPeer } from "./peer-process.ts";
import { atMost, type Finding, median } from "./report.ts";
import { startServiceProcess } from "./service-process.ts";

/** The time from the start of the process to ready: on an empty folder, and later with the existing database. */
export async function startUpRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const first: number[] = [];
  const later: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    const dataDir = await mkdtemp(join(tmpdir(), "signpost-start-"));
    first.push(await readyMs(dataDir));
    for (let again = 0; again < 3; again++) {
      bare.push(await bareMs());
      later.push(await readyMs(dataDir));
    }
    await rm(dataDir, { recursive: true });
  }
  const peer = `${median(bare).toFixed(0)} ms`;
  return [
    atMost("ready, with a database that is there", { ours: median(later), peer, unit: "ms", budget: 300 }),
    atMost("  on an empty DATA_DIR", { ours: median(first), peer, unit: "ms", budget: 3_000 }),
  ];
}

async function readyMs(dataDir: string): Promise<number> {
  const service = await startServiceProcess({ dataDir });
  await service.end("SIGTERM");
  return service.readyMs;
}

async function bareMs(): Promise<number> {
  const startedAt = performance.now();
  const peer = await startPeer("bare-redirect.ts", { destinations: [] });
  const ms = performance.now() - startedAt;
  await peer.end();
  return ms;
}
