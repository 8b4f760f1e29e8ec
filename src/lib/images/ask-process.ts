import { fork } from "node:child_process";
import { flushCompileCache, getCompileCacheDir } from "node:module";
import { dirname, extname } from "node:path";

/** The result of a question: its answer, or how the process ended without one. */
export type ProcessOutcome<Answer> = { readonly answer: Answer } | { readonly ended: "late" | "crashed" };

/**
 * The address of the program `name` beside the caller's file, with the same extension: in a bundle both are JavaScript.
 */
export function programBeside(callersUrl: string, name: string): URL {
  return new URL(`./${name}${extname(callersUrl)}`, callersUrl);
}

/**
 * Starts a program of ours in a child process, asks it one question, and kills it in the end, whatever it is doing. The
 * child costs about 100 ms more, but its memory and its crashes stay outside of this process. The program answers one
 * message with one message.
 */
export function askProcess<Question extends object, Answer>(
  program: URL,
  question: Question,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ProcessOutcome<Answer>> {
  const { promise, resolve, reject } = Promise.withResolvers<ProcessOutcome<Answer>>();
  const child = fork(program, [], {
    serialization: "advanced",
    // The child gets neither the flags of this process, such as --eval, nor its secrets.
    execArgv: [],
    env: compiledCode(),
    // A session of its own keeps the terminal's Ctrl-C from the child: the caller decides when it ends.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const timer = setTimeout(() => resolve({ ended: "late" }), timeoutMs);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  child.once("message", (answer) => resolve({ answer: answer as Answer })); // the program's own type
  child.on("error", reject);
  child.once("exit", () => resolve({ ended: "crashed" }));
  // When the child dies before it takes the question, its `exit` event says so; the error of the broken pipe adds
  // nothing.
  child.send(question, () => {});
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    child.removeAllListeners();
    // Sending to a process that has gone reports an error, which nobody needs any more.
    child.on("error", () => {});
    child.kill("SIGKILL");
  });
}

/** Where the child finds its compiled code, and keeps it, if this process does so: half of its time goes into that. */
function compiledCode(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node makes a folder for its version in the one that it is given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/** Answers the one question of `askProcess`, inside the child process. */
export function answerOnce<Question, Answer extends object>(
  answer: (question: Question) => Promise<Answer>,
): void {
  process.once("message", (question) => {
    // It is killed in the end, and would keep nothing. This writes nothing that is there.
    flushCompileCache();
    // The caller knows the question's type. Without an answer the process ends, which is all the caller needs to know.
    answer(question as Question).then(
      (answered) => process.send?.(answered),
      () => process.exit(1),
    );
  });
  // The caller has gone; an ordinary exit would wait for work in other threads.
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
}
