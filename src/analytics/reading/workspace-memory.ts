import type pg from "pg";
import { lruCache } from "../../lib/lru-cache.ts";
import type { Bits } from "../kernels/people.ts";
import type { HeldColumns, HeldName } from "../kernels/span.ts";
import { holdColumn } from "./hold-columns.ts";
import type { MovesThen } from "./moved-visitors.ts";
import { type GivenValuesOf, readGiven, readIdentified } from "./read-people.ts";
import { type OpenPart, readState, type SegmentFacts } from "./read-state.ts";
import { type Refreshed, refreshed } from "./refreshed.ts";
import { createWorkspaceNumbers, type WorkspaceNumbers } from "./workspace-numbers.ts";

/** Visits read from events, with the columns that questions needed so far. */
export interface HeldPart {
  readonly beginsMs: number;
  readonly visits: number;
  column<Name extends HeldName>(name: Name): HeldColumns[Name];
}

/** What a workspace's visits are made of. */
export interface State {
  readonly segments: readonly SegmentFacts[];
  readonly open: readonly HeldPart[];
  /** Who visitors have become at the moment of this state. */
  readonly moves: MovesThen;
  /** Segments that lack changes for too long, as their events have them, by version. */
  readonly fromEvents: Map<string, Promise<readonly HeldPart[]>>;
}

/** What is kept about a workspace between questions, besides the columns of its segments. */
export interface WorkspaceMemory {
  /** No two memories have the same. */
  readonly id: number;
  readonly numbers: WorkspaceNumbers;
  /** How many visits may be read from events. */
  readonly openMax: number;
  /** The versions of segments that cannot be read. */
  readonly broken: Set<string>;
  readonly state: Refreshed<State>;
  /** The codes of visitors with an e-mail address or a phone number. */
  readonly identified: Refreshed<Bits>;
  readonly given: (key: string) => Refreshed<GivenValuesOf>;
  bytes(): number;
}

/** The memories of the workspaces that were asked about last. */
export function createMemories(
  pool: pg.Pool,
  bytesMax: number,
  openMax: number,
): (workspaceId: string) => WorkspaceMemory {
  // A larger memory takes the place of all others.
  const memories = lruCache<WorkspaceMemory>(bytesMax, (memory) => Math.min(bytesMax, memory.bytes()));
  let next = 0;
  return (workspaceId) => {
    let memory = memories.get(workspaceId);
    if (memory === undefined || memory.bytes() > 2 * bytesMax) {
      memory = createMemory(pool, { workspaceId, openMax, id: next });
      next += 1;
    }
    // Memories grow between questions, and the cache weighs only what is new to it.
    memories.delete(workspaceId);
    memories.set(workspaceId, memory);
    return memory;
  };
}

/** The least bytes of a memory. */
const leastBytes = 16 * 1024;

/** How many attributes are kept for a workspace. */
const keysMax = 8;

function createMemory(
  pool: pg.Pool,
  {
    workspaceId,
    openMax,
    id,
  }: { readonly workspaceId: string; readonly openMax: number; readonly id: number },
): WorkspaceMemory {
  const numbers = createWorkspaceNumbers();
  const byKey = new Map<string, Refreshed<GivenValuesOf>>();
  let xmin = "0";
  let stateBytes = 0;
  let identifiedBytes = 0;
  const bytesByKey = new Map<string, number>();

  return {
    id,
    numbers,
    openMax,
    broken: new Set(),
    state: refreshed(async () => {
      const stored = await readState(pool, { workspaceId, xmin, openMax });
      // They are noted again when two readings overlap.
      numbers.moved.note(stored.moves);
      const moves = numbers.moved.now();
      xmin = stored.xmin;
      stateBytes = stored.open.reduce((sum, { visits }) => sum + visits * openRowBytes, 0);
      const open = stored.open.map((part) => heldPart(part, numbers, moves));
      return { segments: stored.segments, open, moves, fromEvents: new Map() };
    }),
    identified: refreshed(async () => {
      const identified = await readIdentified(pool, workspaceId);
      identifiedBytes = identified.byteLength;
      return identified;
    }),
    given(key) {
      let values = byKey.get(key);
      if (values === undefined) {
        values = refreshed(async () => {
          const given = await readGiven(pool, workspaceId, key);
          bytesByKey.set(key, given.bytes);
          return given;
        });
        const [oldest] = byKey.keys();
        if (byKey.size >= keysMax && oldest !== undefined) {
          byKey.delete(oldest);
          bytesByKey.delete(oldest);
        }
        byKey.set(key, values);
      }
      return values;
    },
    bytes: () =>
      leastBytes +
      numbers.bytes() +
      stateBytes +
      identifiedBytes +
      [...bytesByKey.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}

/** What a visit that was read from events takes, as it was read and as it is held. */
const openRowBytes = 120;

/** Columns are made for reading when a question needs them. */
export function heldPart(
  { beginsMs, visits, columns }: OpenPart,
  numbers: WorkspaceNumbers,
  moves: MovesThen,
): HeldPart {
  const made: Partial<HeldColumns> = {};
  return {
    beginsMs,
    visits,
    column<Name extends HeldName>(name: Name) {
      const known = made[name];
      if (known !== undefined) return known;
      const column = holdColumn(name, (stored) => columns[stored], numbers, moves);
      made[name] = column as (typeof made)[Name];
      return column;
    },
  };
}
