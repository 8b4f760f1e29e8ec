import type pg from "pg";
import { lruCache } from "../../lib/lru-cache.ts";
import type { Bits } from "../kernels/people.ts";
import type { HeldColumns, HeldName } from "../kernels/span.ts";
import { holdColumn } from "./hold-columns.ts";
import type { MovesThen } from "./moved-visitors.ts";
import { type GivenValuesOf, readGiven, readIdentified } from "./read-people.ts";
import {
  atOneMoment,
  NotSealed,
  type OpenPart,
  readState,
  type SegmentFacts,
  type StoredState,
} from "./read-state.ts";
import { type Refreshed, refreshed } from "./refreshed.ts";
import { createWorkspaceNumbers, type WorkspaceNumbers } from "./workspace-numbers.ts";

/** Visits read from events, with the columns that questions needed so far. */
export interface HeldPart {
  readonly beginsMs: number;
  readonly visits: number;
  column<Name extends HeldName>(name: Name): HeldColumns[Name];
}

/** A segment as its events have it. */
export interface SegmentFromEvents {
  readonly visits: number;
  readonly parts: Promise<readonly HeldPart[]>;
}

/** What a workspace's visits are made of. */
export interface State {
  readonly segments: readonly SegmentFacts[];
  readonly open: readonly HeldPart[];
  /** Who visitors have become at the moment of this state. */
  readonly moves: MovesThen;
  /** Segments that lack changes for too long, as their events have them, by version. */
  readonly fromEvents: Map<string, SegmentFromEvents>;
}

/** What was read at the moment of a state. Of two moments, a visitor who merges between them would be in none. */
export interface Beside<Value> {
  readonly state: State;
  readonly value: Value;
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
  readonly identified: Refreshed<Beside<Bits>>;
  readonly given: (key: string) => Refreshed<Beside<GivenValuesOf>>;
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

/** How often something is read again because another reading has seen visitors move meanwhile. */
const overlapsMax = 5;

function createMemory(
  pool: pg.Pool,
  {
    workspaceId,
    openMax,
    id,
  }: { readonly workspaceId: string; readonly openMax: number; readonly id: number },
): WorkspaceMemory {
  const numbers = createWorkspaceNumbers();
  const byKey = new Map<string, Weighed<Beside<GivenValuesOf>>>();
  let xmin = "0";

  /** Reads the state, and something else at the same moment. */
  async function readBeside<Value>(read: (client: pg.ClientBase) => Promise<Value>): Promise<Beside<Value>> {
    for (let tries = 1; ; tries++) {
      const { count } = numbers.moved.now();
      const [value, stored] = await atOneMoment(pool, async (client) => [
        await read(client),
        await readState(client, { workspaceId, xmin, openMax }),
      ]);
      // Whoever reads beside this one may have seen visitors move whom this one has not seen move yet.
      const isAlone = numbers.moved.now().count === count;
      numbers.moved.note(stored.moves);
      xmin = stored.xmin;
      if (isAlone) return { state: stateOf(stored), value };
      if (tries === overlapsMax) throw new NotSealed("visitors move all the time");
    }
  }

  function stateOf({ segments, open }: StoredState): State {
    const moves = numbers.moved.now();
    return {
      segments,
      open: open.map((part) => heldPart(part, numbers, moves)),
      moves,
      fromEvents: new Map(),
    };
  }

  const state = weighed(async () => (await readBeside(async () => undefined)).state, bytesOfState);
  const identified = weighed(
    () => readBeside((client) => readIdentified(client, workspaceId)),
    (read) => bytesOfState(read.state) + read.value.byteLength,
  );

  return {
    id,
    numbers,
    openMax,
    broken: new Set(),
    state: state.read,
    identified: identified.read,
    given(key) {
      let values = byKey.get(key);
      if (values === undefined) {
        values = weighed(
          () => readBeside((client) => readGiven(client, workspaceId, key)),
          (read) => bytesOfState(read.state) + read.value.bytes,
        );
        const [oldest] = byKey.keys();
        if (byKey.size >= keysMax && oldest !== undefined) byKey.delete(oldest);
        byKey.set(key, values);
      }
      return values.read;
    },
    bytes: () =>
      [state, identified, ...byKey.values()].reduce(
        (sum, { bytes }) => sum + bytes(),
        leastBytes + numbers.bytes(),
      ),
  };
}

/** A value that is read again, and how much the last one takes. */
interface Weighed<Value> {
  readonly read: Refreshed<Value>;
  bytes(): number;
}

function weighed<Value>(read: () => Promise<Value>, weigh: (value: Value) => number): Weighed<Value> {
  let last: Value | undefined;
  return {
    read: refreshed(async () => {
      last = await read();
      return last;
    }),
    // Questions add to what was read.
    bytes: () => (last === undefined ? 0 : weigh(last)),
  };
}

function bytesOfState({ open, fromEvents }: State): number {
  return [...open, ...fromEvents.values()].reduce((sum, { visits }) => sum + visits * openRowBytes, 0);
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
