/** Items that wait for a commit which many of them share. */
export type GroupCommit<T> = {
  /**
   * Resolves when the commit that holds `item` is done. Rejects with the commit's error, or at once when too much
   * waits.
   */
  add(item: T, size: number): Promise<void>;
  /** Resolves when nothing waits and no commit is on its way. */
  idle(): Promise<void>;
};

type Waiting<T> = { item: T; size: number; resolve: () => void; reject: (error: unknown) => void };

/**
 * Gathers items while a commit is on its way and gives them to the next one together: at most `groupBytesMax` in a
 * commit and `waitingBytesMax` in waiting. The first item of an idle time waits for the end of its event loop turn, so
 * that requests that arrived together are committed together.
 */
export function groupCommit<T>(
  commit: (items: T[]) => Promise<void>,
  limits: { groupBytesMax: number; waitingBytesMax: number },
): GroupCommit<T> {
  let waiting: Waiting<T>[] = [];
  let waitingBytes = 0;
  let running: Promise<void> | undefined;

  function takeGroup(): Waiting<T>[] {
    let size = 0;
    let end = 0;
    for (const entry of waiting) {
      if (end > 0 && size + entry.size > limits.groupBytesMax) break;
      size += entry.size;
      end += 1;
    }
    const group = end === waiting.length ? waiting : waiting.slice(0, end);
    waiting = end === waiting.length ? [] : waiting.slice(end);
    waitingBytes -= size;
    return group;
  }

  async function run(): Promise<void> {
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const group = takeGroup();
      try {
        await commit(group.map((entry) => entry.item));
        for (const entry of group) entry.resolve();
      } catch (error) {
        for (const entry of group) entry.reject(error);
      }
    }
    running = undefined;
  }

  return {
    add(item, size) {
      if (waitingBytes + size > limits.waitingBytesMax) {
        return Promise.reject(new Error(`${waitingBytes} bytes already wait to be committed`));
      }
      waitingBytes += size;
      return new Promise((resolve, reject) => {
        waiting.push({ item, size, resolve, reject });
        running ??= run();
      });
    },
    async idle() {
      while (running !== undefined) await running;
    },
  };
}
