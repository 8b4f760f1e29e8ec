import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A program of the folder `peers` in a child process. */
export interface PeerProcess {
  readonly pid: number;
  /** The port that the peer announced when it was ready. */
  readonly port: number;
  /** Sends the peer a task and waits for its next message. */
  ask<Answer>(task: object): Promise<Answer>;
  end(): Promise<void>;
}

/** Starts a peer with one JSON argument and waits for its first message, `{ port }`. */
export async function startPeer(name: string, options: object = {}): Promise<PeerProcess> {
  const child = fork(join(import.meta.dirname, "peers", name), [JSON.stringify(options)]);
  const { port } = await nextMessage<{ port: number }>(child, name);
  return {
    pid: child.pid ?? 0,
    port,
    ask(task) {
      child.send(task);
      return nextMessage(child, name);
    },
    async end() {
      child.kill();
      await once(child, "exit");
    },
  };
}

async function nextMessage<Message>(child: ChildProcess, name: string): Promise<Message> {
  const heard = new AbortController();
  const { signal } = heard;
  const ended = once(child, "exit", { signal }).then(() => {
    throw new Error(`${name} ended`);
  });
  try {
    // The messages of each peer are declared where they are read.
    const [message] = (await Promise.race([once(child, "message", { signal }), ended])) as [Message];
    return message;
  } finally {
    ended.catch(() => {});
    heard.abort();
  }
}
