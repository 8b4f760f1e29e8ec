// @ts-check

/*
 * Hands groups of records from the answering thread to the thread of the disk. There are two buffers. The answering
 * thread adds to the open one at any time. The disk takes it whenever it is ready for the next commit, and the
 * answering thread goes on in the other one. The disk therefore never waits for the answering thread's event loop, and
 * the answering thread never waits for the disk.
 *
 * Both threads use the buffers in turn. A state changes hands by one atomic step, and with it everything that was
 * written before.
 */

/** @typedef {{ words: SharedArrayBuffer, buffers: readonly [SharedArrayBuffer, SharedArrayBuffer] }} Handover */
/** @typedef {{ bytes: Uint8Array, records: number, release: () => void }} TakenGroup */

/** The states of a buffer, which `words` holds at 0 and 1. */
const [free, open, writing, taken] = [0, 1, 2, 3];
/** Further places in `words`: whether the disk waits to be woken, and the length and records of both groups. */
const asleep = 2;
const lengths = 3;
const counts = 5;
const wordCount = 7;

/**
 * @param {number} bytesMax of one group
 * @returns {Handover}
 */
export function createHandover(bytesMax) {
  return {
    words: new SharedArrayBuffer(wordCount * Int32Array.BYTES_PER_ELEMENT),
    buffers: [new SharedArrayBuffer(bytesMax), new SharedArrayBuffer(bytesMax)],
  };
}

/**
 * The side of the answering thread. Each `begin` is followed by `end`, without waiting in between.
 * @param {Handover} handover
 */
export function giver({ words: shared, buffers }) {
  const words = new Int32Array(shared);
  let current = 1;
  return {
    /**
     * Reserves the open group. Gives the buffer of a new group when the disk has taken the one before, and undefined
     * when the group is still the same.
     * @returns {Buffer | undefined}
     */
    begin() {
      if (Atomics.compareExchange(words, current, open, writing) === open) return undefined;
      // The disk released this buffer before it took the other one.
      current = 1 - current;
      Atomics.store(words, current, writing);
      return Buffer.from(buffers[current === 0 ? 0 : 1]);
    },
    /**
     * Opens the group again, with what it holds now. Says whether the disk has to be woken.
     * @param {number} length
     * @param {number} records
     */
    end(length, records) {
      words[lengths + current] = length;
      words[counts + current] = records;
      Atomics.store(words, current, open);
      return Atomics.load(words, asleep) === 1;
    },
    /** To be called before the disk is sent the message that wakes it. */
    wake() {
      Atomics.store(words, asleep, 0);
    },
  };
}

/**
 * The side of the disk: takes the open group. Without one it gives undefined, and the next record wakes the disk.
 * @param {Handover} handover
 * @returns {() => TakenGroup | undefined}
 */
export function taker({ words: shared, buffers }) {
  const words = new Int32Array(shared);
  let next = 0;
  const isTaken = () => Atomics.compareExchange(words, next, open, taken) === open;
  return () => {
    if (!isTaken()) {
      // A record may have come before this was said, so the disk looks once more.
      Atomics.store(words, asleep, 1);
      if (!isTaken()) return undefined;
      Atomics.store(words, asleep, 0);
    }
    const own = next;
    next = 1 - next;
    return {
      bytes: new Uint8Array(buffers[own === 0 ? 0 : 1], 0, words[lengths + own]),
      records: words[counts + own] ?? 0,
      release: () => Atomics.store(words, own, free),
    };
  };
}
