import { createClassifier } from "../../src/scan/device/classify.ts";
import { openGeography } from "../../src/scan/device/geography.ts";
import { createRecordStore, type StoreRecords } from "../../src/scan/store/store-records.ts";
import type { TestDatabase } from "./test-database.ts";

/** The storing side of a scan runtime, which a test controls. */
export interface GatedStore {
  readonly store: StoreRecords;
  /** Lets the store take batches. Until then it puts them off, as if the database were away. */
  open(): void;
  /** Stores the next batch as if the process died before its spool forgot the batch, so that the batch comes again. */
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
      // The store takes over the memory of the chunks that it is given.
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
