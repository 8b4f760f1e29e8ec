import { type Frame, frameInto, type RecordText } from "./framed-records.ts";
import { giver, type Handover } from "./handover.js";

/** Is told once what became of a record: nothing when it is on disk, or the error. */
export type Committed = (error?: Error) => void;

/** Records that wait for a commit which many of them share. */
export interface GroupCommit {
  /** Adds a record of at most `size` bytes. Reports an error at once when too much waits. */
  add(id: Uint8Array, text: RecordText, size: number, done: Committed): void;
  /** Ends the oldest group, and tells `onCommit` the number of its records before it tells them. */
  end(error?: Error, onCommit?: (records: number) => void): void;
  /** Ends all groups with an error. */
  endAll(error: Error): void;
  /** How many records wait for their commit. */
  pending(): number;
  /** Resolves when nothing waits and no commit is on its way. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly id: Uint8Array;
  readonly text: RecordText;
  readonly size: number;
  readonly done: Committed;
}

type Group = { readonly dones: Committed[]; bytes: number };

export interface GroupLimits {
  readonly groupBytesMax: number;
  readonly waitingBytesMax: number;
}

/**
 * Gathers records in a group until the disk takes it: at most `groupBytesMax` in a group and `waitingBytesMax` in all.
 * `wake` is called when the disk sleeps, at the end of the event loop turn, so that requests that arrived together are
 * committed together.
 */
export function groupCommit(handover: Handover, wake: () => void, limits: GroupLimits): GroupCommit {
  const gives = giver(handover);
  /** The groups that are not committed, the oldest first. The last one may still be open. */
  const groups: Group[] = [];
  let frame: Frame | undefined;
  /** Records for which the open group has no room. */
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let pending = 0;
  let isWaking = false;
  let idlers: (() => void)[] = [];

  function wakeAfterTurn(): void {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      gives.wake();
      wake();
    });
  }

  /** Writes a record into the open group; false when there is no room. */
  function put(id: Uint8Array, text: RecordText, size: number, done: Committed): boolean {
    const buffer = gives.begin();
    if (buffer !== undefined) {
      frame = frameInto(buffer);
      groups.push({ dones: [], bytes: 0 });
    }
    const group = groups.at(-1);
    if (frame === undefined || group === undefined) throw new Error("the spool has no open group");
    const hasRoom = frame.length() + size <= limits.groupBytesMax;
    if (hasRoom) {
      frame.add(id, text);
      group.dones.push(done);
      group.bytes += size;
    }
    if (gives.end(frame.length(), group.dones.length)) wakeAfterTurn();
    return hasRoom;
  }

  function endIdlers(): void {
    for (const end of idlers) end();
    idlers = [];
  }

  function putWaiting(): void {
    const placed = waiting.findIndex(({ id, text, size, done }) => !put(id, text, size, done));
    waiting = placed === -1 ? [] : waiting.slice(placed);
  }

  return {
    add(id, text, size, done) {
      if (waitingBytes + size > limits.waitingBytesMax) {
        done(new Error(`${waitingBytes} bytes already wait to be committed`));
        return;
      }
      waitingBytes += size;
      pending += 1;
      if (waiting.length > 0 || !put(id, text, size, done)) waiting.push({ id, text, size, done });
    },
    end(error, onCommit) {
      const group = groups.shift();
      if (group === undefined) throw new Error("the disk has committed a group that nobody gave it");
      waitingBytes -= group.bytes;
      pending -= group.dones.length;
      onCommit?.(group.dones.length);
      if (waiting.length > 0) putWaiting();
      for (const done of group.dones) done(error);
      if (groups.length === 0) endIdlers();
    },
    endAll(error) {
      const left = [...groups.splice(0).flatMap(({ dones }) => dones), ...waiting.map(({ done }) => done)];
      waiting = [];
      waitingBytes = 0;
      pending = 0;
      for (const done of left) done(error);
      endIdlers();
    },
    pending: () => pending,
    idle() {
      return new Promise((resolve) => {
        if (groups.length === 0) resolve();
        else idlers.push(resolve);
      });
    },
  };
}
