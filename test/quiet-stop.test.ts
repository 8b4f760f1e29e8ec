import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { eventually, isExternalRun, type Service, startService } from "./support/start-service.ts";

const run = promisify(execFile);

/** How many child processes of the service are drawing now. */
async function drawing({ pid }: Service): Promise<number> {
  const { stdout } = await run("pgrep", ["-c", "-P", String(pid), "-f", "draw-(page-)?process"]).catch(
    ({ stdout }) => ({ stdout }),
  );
  return Number(stdout);
}

// Like a terminal on Ctrl-C, the test sends SIGINT to every process of the group.
test.skipIf(isExternalRun).each<[NodeJS.Signals, "process" | "group"]>([
  ["SIGTERM", "process"],
  ["SIGINT", "group"],
])(
  "%s to the %s in the middle of the first drawings stops the service without a word of trouble",
  async (signal, to) => {
    const service = await startService({ database: "own", ownGroup: true });
    await eventually(
      () => drawing(service),
      (count) => count > 0,
    );
    if (to === "group") process.kill(-service.pid, signal);
    expect(await service.kill(signal)).toEqual({ code: 0, signal: null });
    const trouble = service.log().filter(({ level }) => level >= 40);
    expect(trouble).toEqual([]);
    expect(service.stderr()).toBe("");
    expect(service.log().at(-1)?.msg).toBe("stopped");
    await service.stop();
  },
);
