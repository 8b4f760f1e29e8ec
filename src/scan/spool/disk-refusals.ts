import { framedLength, type RecordText } from "./framed-records.ts";

/** Keeps records in memory that the disk refused. Records that wait for the database lie on the disk (`drain.ts`). */
export interface RetryBuffer {
  /** False when there is no room for the record. */
  keep(id: Uint8Array, text: RecordText): boolean;
  /**
   * Tries all records once and gives the number that reached the disk. One try runs at a time: a call meanwhile gets
   * its result.
   */
  retry(): Promise<number>;
  size(): number;
}

interface Kept {
  readonly id: Uint8Array;
  readonly text: RecordText;
}

/** A buffer of at most `bytesMax` bytes of records, in order of arrival. */
export function createRetryBuffer(
  append: (id: Uint8Array, text: RecordText) => Promise<void>,
  bytesMax: number,
): RetryBuffer {
  let kept: Kept[] = [];
  let bytesKept = 0;
  let retrying: Promise<number> | undefined;

  const tryOne = async ({ id, text }: Kept): Promise<boolean> => {
    try {
      await append(id, text);
      return true;
    } catch {
      return false;
    }
  };

  async function retryAll(): Promise<number> {
    const tried = kept;
    const [first, ...others] = tried;
    // The first record alone shows whether the disk takes records again.
    if (first === undefined || !(await tryOne(first))) return 0;
    const results = [true, ...(await Promise.all(others.map(tryOne)))];
    // Records that arrived meanwhile stand behind these.
    kept = kept.filter((_, index) => results[index] !== true);
    bytesKept = kept.reduce((sum, { text }) => sum + framedLength(text), 0);
    return results.filter((succeeded) => succeeded).length;
  }

  return {
    keep(id, text) {
      const length = framedLength(text);
      if (bytesKept + length > bytesMax) return false;
      kept.push({ id, text });
      bytesKept += length;
      return true;
    },
    retry() {
      retrying ??= retryAll().finally(() => {
        retrying = undefined;
      });
      return retrying;
    },
    size: () => kept.length,
  };
}
