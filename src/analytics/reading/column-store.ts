import pg from "pg";
import { lruCache } from "../../lib/lru-cache.ts";
import type { HeldColumns, HeldName } from "../kernels/span.ts";
import { BrokenColumn } from "../segments/column-bytes.ts";
import type { ColumnName } from "../segments/columns.ts";
import { bigintAt, type CopiedRow, copyOut } from "../segments/copy-out.ts";
import { unpackColumn } from "../segments/pack-columns.ts";
import { bytesOf, holdColumn, type StoredColumns, sourcesOf } from "./hold-columns.ts";
import type { MovesThen } from "./moved-visitors.ts";
import { type SegmentFacts, withConnection } from "./read-state.ts";
import type { WorkspaceMemory } from "./workspace-memory.ts";

/** A segment that a question needs, with the names of the columns. */
export interface Needed {
  readonly segment: SegmentFacts;
  readonly names: readonly HeldName[];
}

/** What a question reads has changed since it began. */
export class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

/** A segment cannot be read. From now on its events are read instead. */
export class BrokenSegment extends Error {
  override readonly name = "BrokenSegment";
}

/** Gives columns of segments, which it keeps as long as they fit. */
export interface ColumnStore {
  /** Reads what is missing of the first of these segments, and of as many more as one statement may read. */
  load(of: LoadingFor, needed: readonly Needed[]): Promise<LoadedColumns[]>;
}

/** The workspace of a question, and who its visitors are for this question. */
export interface LoadingFor {
  readonly workspaceId: string;
  readonly memory: WorkspaceMemory;
  readonly moves: MovesThen;
}

export interface LoadedColumns {
  readonly segment: SegmentFacts;
  readonly columns: Partial<HeldColumns>;
}

/** How many values of columns a statement reads at most, unless one segment has more. */
const valuesMax = 1_500_000;

const databaseName: { readonly [Name in ColumnName]: string } = {
  times: "times",
  links: "links",
  visitors: "visitors",
  devices: "devices",
  visitType: "visit_type",
  deviceType: "device_type",
  country: "country",
  city: "city",
  browser: "browser",
  platform: "platform",
  completed: "completed",
  scores: "scores",
  ways: "ways",
};

export function createColumnStore(pool: pg.Pool, bytesMax: number): ColumnStore {
  const kept = lruCache<HeldColumns[HeldName]>(bytesMax, (column) => bytesOf(column) + 256);

  function keyOf({ memory: { id }, moves }: LoadingFor, { version }: SegmentFacts, name: HeldName): string {
    return name === "people" ? `${id} ${version} people ${moves.baked}` : `${id} ${version} ${name}`;
  }

  function lookUp(of: LoadingFor, { segment, names }: Needed) {
    const columns: Partial<Record<HeldName, HeldColumns[HeldName]>> = {};
    const missing: HeldName[] = [];
    for (const name of names) {
      const column = kept.get(keyOf(of, segment, name));
      if (column === undefined) missing.push(name);
      else columns[name] = column;
    }
    return { segment, columns, missing };
  }

  return {
    async load(of, needed) {
      const { workspaceId, memory, moves } = of;
      const looked: ReturnType<typeof lookUp>[] = [];
      const names = new Set<HeldName>();
      let values = 0;
      for (const each of needed) {
        const found = lookUp(of, each);
        values += each.segment.visits * found.missing.length;
        if (looked.length > 0 && values > valuesMax) break;
        for (const name of found.missing) names.add(name);
        looked.push(found);
        // What is kept already is used at once, before it may have to make room.
        if (names.size === 0) break;
      }
      const sources = [...new Set([...names].flatMap((name) => sourcesOf[name]))];
      const segments = looked.flatMap(({ segment, missing }) => (missing.length > 0 ? [segment] : []));
      const packed = await fetchColumns(pool, workspaceId, segments, sources);
      return looked.map(({ segment, columns, missing }) => {
        const bytes = packed.get(segment.version) ?? [];
        const unpack = unpacking(memory, segment, (source) => bytes[sources.indexOf(source)]);
        for (const name of missing) {
          const column = holdColumn(name, unpack, memory.numbers, moves);
          kept.set(keyOf(of, segment, name), column);
          columns[name] = column;
        }
        // Each entry was made by the name of its column.
        return { segment, columns: columns as Partial<HeldColumns> };
      });
    },
  };
}

function unpacking(
  { broken }: WorkspaceMemory,
  { version, visits }: SegmentFacts,
  bytesOfSource: (source: ColumnName) => Buffer | undefined,
): StoredColumns {
  return (source) => {
    try {
      return unpackColumn(source, bytesOfSource(source) ?? Buffer.alloc(0), visits);
    } catch (error) {
      if (!(error instanceof BrokenColumn)) throw error;
      broken.add(version);
      throw new BrokenSegment(`segment ${version}: ${error.message}`);
    }
  };
}

/** The packed columns of segments by their versions, in the order of `sources`. */
async function fetchColumns(
  pool: pg.Pool,
  workspaceId: string,
  segments: readonly SegmentFacts[],
  sources: readonly ColumnName[],
): Promise<ReadonlyMap<string, readonly Buffer[]>> {
  const found = new Map<string, readonly Buffer[]>();
  if (segments.length === 0) return found;
  const begins = segments.map(({ beginsMs }) => `'${new Date(beginsMs).toISOString()}'`);
  const query = `select version, ${sources.map((source) => databaseName[source]).join()} from segments
    where workspace_id = ${pg.escapeLiteral(workspaceId)} and begins_at in (${begins.join()})`;
  await withConnection(pool, (client) =>
    copyOut(client, query, (row) => {
      const columns = sources.map((_, index) => bytesAt(row, index + 1));
      found.set(String(bigintAt(row, 0)), columns);
    }),
  );
  if (segments.some(({ version }) => !found.has(version)))
    throw new ChangedMeanwhile("a segment was sealed again");
  return found;
}

/** The bytes of a field, which stay when the next row comes. */
function bytesAt({ bytes, starts, lengths }: CopiedRow, field: number): Buffer {
  const start = starts[field] ?? 0;
  return Buffer.from(bytes.subarray(start, start + (lengths[field] ?? 0)));
}
