import { createClassifier } from "../../src/scan/device/classify.ts";
import { openGeography } from "../../src/scan/device/geography.ts";
import { createRecordStore, type StoreRecords } from "../../src/scan/store/store-records.ts";
import type { TestDatabase } from "./test-database.ts";

/** The storing side of a scan runtime, in the hands of a test. */
export interface GatedStore {
  readonly store: StoreRecords;
  /** From now on batches are stored; while it is closed, they are put off as if the database were away. */
  open(): void;
  /** The next batch is stored, and the process dies before its spool forgets it: it comes again. */
  dieAfterNext(): void;
}

/** A store that is closed at first. */
export async function gatedStore({ db }: TestDatabase): Promise<GatedStore> {
  const store = createRecordStore(db, {
    classify: createClassifier(),
    geography: await openGeography(),
    key: "00".repeat(32),
  });
  let isOpen = false;
  let deaths = 0;
  return {
    async store(chunks, now) {
      if (!isOpen) throw new Error("the database is away");
      // The store keeps the memory of what it is given.
      const stored = await store(chunks, now);
      if (deaths === 0) return stored;
      deaths -= 1;
      throw new Error("the process died");
    },
    open() {
      isOpen = true;
    },
    dieAfterNext() {
      deaths += 1;
    },
  };
}
