import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { verifyDesign } from "./verify.ts";
import type { VerifyAnswer, VerifyRequest } from "./verify-thread.ts";

/* Verifies designs on a thread of its own; see `verifyInThread`. */

const port = parentPort;
if (port === null) throw new Error("verify-worker runs as a worker thread");

// Visitors come first. Linux has priorities of threads. Elsewhere 0 means the process, which must keep its own.
if (process.platform === "linux") setPriority(0, 5);

port.on("message", ({ content, design }: VerifyRequest) => {
  const send = (answer: VerifyAnswer) => port.postMessage(answer);
  verifyDesign(content, design).then(
    (scannability) => send({ scannability }),
    (error: unknown) => send({ error: error instanceof Error ? error : new Error(String(error)) }),
  );
});
