import { lruCache } from "../../lib/lru-cache.ts";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import {
  BrokenPage,
  columnNames,
  decodeCounts,
  decodeEntries,
  decodeHead,
  decodeTexts,
  type Entries,
  type Head,
  type Texts,
} from "./page-format.ts";

/** A decoded column, by its kind. A column that a page does not have is empty. */
export interface Column {
  readonly head?: Head;
  readonly counts?: Float64Array;
  readonly texts?: Texts;
  readonly links?: Entries<string>;
  readonly attribute?: Entries<StoredAttribute>;
}

/** Columns of one page, by name. */
export type PageColumns = ReadonlyMap<string, Column>;

/** The columns that were read last. Columns never change, so what is kept is right for ever. */
export interface PageCache {
  /** Columns of a page. Undefined when one of them is not kept. */
  readonly columns: (page: string, names: readonly string[]) => PageColumns | undefined;
  /** Decodes and keeps a column. A column without bytes does not exist. Throws `BrokenPage` for damaged bytes. */
  readonly keep: (page: string, name: string, data: Buffer | undefined) => Column;
}

interface Kept {
  readonly column: Column;
  readonly bytes: number;
}

/** Makes a cache of so many bytes. Pages have numbers and columns short names, so keys are short. */
export function createPageCache(bytesMax: number): PageCache {
  const cache = lruCache<Kept>(bytesMax, ({ bytes }) => bytes);
  return {
    columns(page, names) {
      const found = new Map<string, Column>();
      for (const name of names) {
        const kept = cache.get(`${page} ${name}`);
        if (kept === undefined) return undefined;
        found.set(name, kept.column);
      }
      return found;
    },
    keep(page, name, data) {
      const column = data === undefined ? {} : decodeSafely(name, data);
      cache.set(`${page} ${name}`, { column, bytes: entryBytes + weightOf(data) });
      return column;
    },
  };
}

/** Damaged bytes fail at many places: while they are unpacked, cut into arrays or parsed. */
function decodeSafely(name: string, data: Buffer): Column {
  try {
    return decode(name, data);
  } catch (cause) {
    throw new BrokenPage(`the column ${name} of a page of visitors is broken`, { cause });
  }
}

function decode(name: string, data: Buffer): Column {
  if (name === columnNames.head) return { head: decodeHead(data) };
  if (name === columnNames.text) return { texts: decodeTexts(data) };
  if (name === columnNames.links) return { links: decodeEntries(data) };
  return name.startsWith(columnNames.attribute(""))
    ? { attribute: decodeEntries(data) }
    : { counts: decodeCounts(data) };
}

/** About what an entry takes besides its column. */
const entryBytes = 200;

/** About what a decoded column takes: texts of JavaScript take more than their bytes. */
function weightOf(data: Buffer | undefined): number {
  return data === undefined ? 0 : data.readUInt32LE() * 2;
}
