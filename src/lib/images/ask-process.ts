import { fork } from "node:child_process";
import { extname } from "node:path";

/** What became of a question: its answer, or a process that took too long or ended by itself. */
export type ProcessOutcome<Answer> = { readonly answer: Answer } | { readonly ended: "late" | "crashed" };

/** The program `name` beside the caller's file: bundled beside it, it is JavaScript as that file then is. */
export function programBeside(callersUrl: string, name: string): URL {
  return new URL(`./${name}${extname(callersUrl)}`, callersUrl);
}

/**
 * Starts a program of ours in a process of its own, asks it one thing and ends it by force, whatever it is doing. It takes
 * some 100 ms more, and takes along its memory and its crash. The program answers one message with one message.
 */
export function askProcess<Question extends object, Answer>(
  program: URL,
  question: Question,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ProcessOutcome<Answer>> {
  const { promise, resolve, reject } = Promise.withResolvers<ProcessOutcome<Answer>>();
  const child = fork(program, [], {
    serialization: "advanced",
    // Flags of the process such as --eval are not meant for it, nor are its secrets.
    execArgv: [],
    env: {},
    // A session of its own keeps the terminal's Ctrl-C from it: the caller ends it, or lets it end its work.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const timer = setTimeout(() => resolve({ ended: "late" }), timeoutMs);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  child.once("message", (answer) => resolve({ answer: answer as Answer })); // the program's own type
  child.on("error", reject);
  child.once("exit", () => resolve({ ended: "crashed" }));
  // A process that dies before it has taken the question says so by its end, and the broken pipe says nothing more.
  child.send(question, () => {});
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    child.removeAllListeners();
    // Sending to a process that is gone reports an error, which nobody needs any more.
    child.on("error", () => {});
    child.kill("SIGKILL");
  });
}

/** Answers the one question that `askProcess` asks, in the process that it has started. */
export function answerOnce<Question, Answer extends object>(
  answer: (question: Question) => Promise<Answer>,
): void {
  process.once("message", (question) => {
    // The caller's own type; without an answer the process ends, which tells the caller enough.
    answer(question as Question).then(
      (answered) => process.send?.(answered),
      () => process.exit(1),
    );
  });
  // The caller is gone; work may be under way in a thread that an ordinary exit would wait for.
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
}
