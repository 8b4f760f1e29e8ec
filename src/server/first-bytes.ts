import type net from "node:net";

/**
 * Reads the first bytes of a connection until `judge` knows what they are, and puts them back: the paused socket is then
 * as if nothing had been read. `done` gets nothing at all when the socket ends, or stays silent for too long.
 */
export function readFirst<Verdict>(
  socket: net.Socket,
  timeoutMs: number,
  judge: (seen: Buffer) => Verdict | undefined,
  done: (verdict: Verdict | undefined) => void,
): void {
  let seen: Buffer | undefined;
  // What came in time may still be unread, where this process has been busy: reading comes between the two.
  const timer = setTimeout(() => {
    overdue = setImmediate(() => socket.destroy());
  }, timeoutMs);
  let overdue: NodeJS.Immediate | undefined;
  const onData = (chunk: Buffer) => {
    seen = seen === undefined ? chunk : Buffer.concat([seen, chunk]);
    const verdict = judge(seen);
    if (verdict !== undefined) finish(verdict);
  };
  const onClose = () => finish(undefined);
  const finish = (verdict: Verdict | undefined) => {
    clearTimeout(timer);
    clearImmediate(overdue);
    socket.off("data", onData).off("close", onClose);
    if (verdict !== undefined) {
      socket.pause();
      socket.unshift(seen);
    }
    done(verdict);
  };
  socket.on("data", onData).on("close", onClose);
}
