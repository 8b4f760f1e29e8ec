import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServiceProcess } from "../bench/service-process.ts";
import { grantAt } from "../support/grant-at.ts";
import { startTokenProxy } from "./token-proxy.ts";

/*
 * Runs the protocol's own conformance suite against a real service, in both revisions: `npm run mcp:conformance`. The suite has no
 * access token, so a proxy adds one. `expected-failures-*.yml` lists what it asks for that this server does not have, and why;
 * anything else that fails, and anything listed that passes, makes the run fail.
 */
const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

const service = await startServiceProcess({ env: { RATE_LIMIT_WORKSPACE: "0" } });
const results = await mkdtemp(join(tmpdir(), "signpost-conformance-"));
const failed: string[] = [];
try {
  const baseUrl = `http://localhost:${service.port}`;
  const proxy = await startTokenProxy(service.port, await grantAt({ ...service, baseUrl }));
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    const { isFine, summary } = await judge(proxy.url, revision);
    console.log(`revision ${revision}: ${isFine ? "as expected" : "not as expected"}\n${summary}`);
    if (!isFine) failed.push(revision);
  }
  proxy.close();
} finally {
  await rm(results, { recursive: true, force: true });
  await service.remove();
}
process.exit(failed.length === 0 ? 0 : 1);

/** Runs the scenarios that a revision requires. */
async function judge(url: string, revision: string): Promise<{ isFine: boolean; summary: string }> {
  const expected = join(import.meta.dirname, `expected-failures-${revision}.yml`);
  const args = ["--url", url, "--requirements", revision, "--expected-failures", expected, "-o", results];
  const child = spawn("npx", ["-y", suite, "server", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const [code] = await once(child, "close");
  return { isFine: code === 0, summary: printed.slice(Math.max(0, printed.indexOf("=== SUMMARY"))) };
}
