import type pg from "pg";
import type { HeldColumns, HeldName, Span } from "../kernels/span.ts";
import type { ColumnStore } from "./column-store.ts";
import { atOneMoment, NotSealed, readOpen, type SegmentFacts } from "./read-state.ts";
import { byNumber, type LinkFilter, rowsBetween, rowsFrom, rowsOfLinks } from "./select-rows.ts";
import { type HeldPart, heldPart, type State, type WorkspaceMemory } from "./workspace-memory.ts";

/** Which visits are read, in milliseconds since 1970, both inclusive. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Visits that a question needs, as a segment or as they are read from events. */
export type Source = { readonly segment: SegmentFacts } | { readonly part: HeldPart };

export interface SpansOf {
  readonly workspaceId: string;
  readonly memory: WorkspaceMemory;
  readonly state: State;
  readonly range: Range;
  readonly links: LinkFilter;
  /** A segment that lacks a change for longer is not read, but its events are, in milliseconds. */
  readonly lateMs: number;
}

export interface SpanReader {
  /** What a question reads, in the order of time. */
  sources(of: SpansOf): Promise<readonly Source[]>;
  /** Calls `take` for each span, with a pause behind each, in which others have their turn. */
  each(
    of: SpansOf,
    sources: readonly Source[],
    names: readonly HeldName[],
    take: (span: Span) => void,
  ): Promise<void>;
}

export function createSpanReader(
  pool: pg.Pool,
  columns: ColumnStore,
  pause: () => Promise<void>,
): SpanReader {
  async function partsOf(of: SpansOf, segment: SegmentFacts): Promise<readonly HeldPart[]> {
    const { workspaceId, memory, state } = of;
    const known = state.fromEvents.get(segment.version);
    if (known !== undefined) return known.parts;
    const parts = atOneMoment(pool, (client) =>
      readOpen(client, {
        workspaceId,
        fromMs: segment.beginsMs,
        toMs: segment.endsMs,
        openMax: memory.openMax,
      }),
    ).then((read) => read.map((part) => heldPart(part, memory.numbers, state.moves)));
    state.fromEvents.set(segment.version, { visits: segment.visits, parts });
    parts.catch(() => state.fromEvents.delete(segment.version));
    return parts;
  }

  return {
    async sources(of) {
      const { memory, state, range, lateMs } = of;
      const now = performance.now();
      const sources: Source[] = [];
      const isLate = ({ version, markedAt }: SegmentFacts) =>
        (markedAt !== undefined && now - markedAt > lateMs) || memory.broken.has(version);
      const meant = state.segments.filter(
        ({ beginsMs, endsMs }) => beginsMs <= range.toMs && endsMs > range.fromMs,
      );
      const late = meant.filter(isLate).reduce((sum, { visits }) => sum + visits, 0);
      if (late > memory.openMax) throw new NotSealed(`${late} visits lie in segments that lack changes`);
      for (const segment of meant) {
        if (isLate(segment)) for (const part of await partsOf(of, segment)) sources.push({ part });
        else if (segment.visits > 0) sources.push({ segment });
      }
      for (const part of state.open) if (part.beginsMs <= range.toMs) sources.push({ part });
      return sources;
    },

    async each(of, sources, names, take) {
      const { memory, range, links } = of;
      const loading = { workspaceId: of.workspaceId, memory, moves: of.state.moves };
      const isMeant = links && byNumber(memory.numbers.texts("links").texts, links);
      const give = (beginsMs: number, held: Partial<HeldColumns>, between: Uint32Array) => {
        const isFiltered = isMeant !== undefined && held.links !== undefined;
        const rows = isFiltered ? rowsOfLinks(between, held.links, isMeant) : between;
        if (rows.length > 0) take({ beginsAt: beginsMs, columns: held, rows });
      };
      const rowsIn = (beginsMs: number, visits: number, times: Uint32Array | undefined) =>
        times ? rowsBetween(times, range.fromMs - beginsMs, range.toMs - beginsMs) : rowsFrom(0, visits);
      const filtered: readonly HeldName[] = links === undefined ? names : [...names, "links"];
      const needed = sources.flatMap((source) =>
        "segment" in source
          ? [{ segment: source.segment, names: namesFor(source.segment, range, filtered) }]
          : [],
      );
      for (let index = 0, done = 0; index < sources.length; ) {
        const source = sources[index];
        if (source === undefined) break;
        if ("part" in source) {
          const { part } = source;
          const rows = rowsIn(part.beginsMs, part.visits, part.column("times"));
          const own = rows.length === 0 ? [] : [...filtered, "times" as const];
          give(part.beginsMs, Object.fromEntries(own.map((name) => [name, part.column(name)])), rows);
          index += 1;
        } else {
          // Segments are loaded up to the next part that is read from events.
          const run = runLength(sources, index);
          const loaded = await columns.load(loading, needed.slice(done, done + run));
          for (const { segment, columns: held } of loaded) {
            give(segment.beginsMs, held, rowsIn(segment.beginsMs, segment.visits, held.times));
            await pause();
          }
          index += loaded.length;
          done += loaded.length;
        }
        await pause();
      }
    },
  };
}

function runLength(sources: readonly Source[], from: number): number {
  const end = sources.findIndex((source, index) => index > from && "part" in source);
  return (end === -1 ? sources.length : end) - from;
}

/** Only a segment that begins before the range or ends after it needs its times to tell which visits are meant. */
function namesFor({ beginsMs, endsMs }: SegmentFacts, { fromMs, toMs }: Range, names: readonly HeldName[]) {
  const isWhole = beginsMs >= fromMs && endsMs <= toMs + 1;
  return isWhole ? [...new Set(names)] : [...new Set<HeldName>([...names, "times"])];
}
