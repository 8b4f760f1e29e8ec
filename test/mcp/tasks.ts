import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { startServiceProcess } from "../bench/service-process.ts";
import { grantAt } from "../support/grant-at.ts";

/*
 * Walks every task with the client of the protocol's own Python SDK, in both revisions: `npm run build && node
 * test/mcp/tasks.ts python3`, where the named Python has the package `mcp`. The service is a new one, with its worker.
 */

const [python = "python3"] = process.argv.slice(2);
const service = await startServiceProcess();
try {
  const baseUrl = `http://localhost:${service.port}`;
  const token = await grantAt({ baseUrl, ...service });
  const walk = spawn(python, [join(import.meta.dirname, "tasks.py"), `${baseUrl}/mcp?tools=tasks`], {
    env: { ...process.env, MCP_TOKEN: token },
    stdio: "inherit",
  });
  const [code] = await once(walk, "exit");
  process.exitCode = Number(code ?? 1);
} finally {
  await service.remove();
}
