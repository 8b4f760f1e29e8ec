import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// Little memory survives a redirect, so helper threads of the collector cost more processor time than they save: 8 µs
// per visit.
setFlagsFromString("--no-parallel-scavenge");

// The cache keeps compiled code between starts and halves their time. It must be on before anything else is loaded.
enableCompileCache();
const { readConfig } = await import("./service/config.ts");
const { startService } = await import("./service/service.ts");

// An operator who starts the service twice, or with a wrong setting, gets the reason without a stack.
try {
  const { stdout } = process;
  const screen = { print: (text: string) => stdout.write(text), isTerminal: stdout.isTTY === true };
  const service = await startService(readConfig(process.env), screen);
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
} catch (error) {
  process.stderr.write(`signpost: ${error instanceof Error ? describe(error) : String(error)}\n`);
  process.exit(1);
}

function describe(error: Error): string {
  if ("code" in error && error.code === "EADDRINUSE") return `${error.message}; set PORT to another one`;
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
