import type pg from "pg";
import {
  type AttributeKernel,
  newestValuesKernel,
  numbersKernel,
  valueGroupsKernel,
} from "../kernels/attributes.ts";
import { type Audience, audienceKernel } from "../kernels/audience.ts";
import { funnelKernel } from "../kernels/funnel.ts";
import { groupsKernel, seriesKernel } from "../kernels/groups.ts";
import { linksKernel } from "../kernels/links.ts";
import { type Bits, type Moves, noBits } from "../kernels/people.ts";
import type { Kernel, Span, TextsOf } from "../kernels/span.ts";
import { hoursKernel, intervalsKernel, summaryKernel } from "../kernels/times.ts";
import { visitorsKernel } from "../kernels/visitors.ts";
import type { AnswerOf, Attribute, Kind, QuestionOf, Scope } from "../question.ts";
import { BrokenSegment, ChangedMeanwhile, type ColumnStore } from "./column-store.ts";
import { type Histories, historyKernel } from "./histories.ts";
import { readLinkFilter, readTopLinks } from "./links-queries.ts";
import type { MovesThen } from "./moved-visitors.ts";
import { NotSealed } from "./read-state.ts";
import type { Aged } from "./refreshed.ts";
import type { Source, SpanReader } from "./spans.ts";
import type { State, WorkspaceMemory } from "./workspace-memory.ts";

export interface ReaderDeps {
  readonly pool: pg.Pool;
  readonly memoryOf: (workspaceId: string) => WorkspaceMemory;
  readonly columns: ColumnStore;
  readonly spans: SpanReader;
  /** Told of segments that cannot be read; their events are read instead. */
  readonly onFault: (fault: string) => void;
}

/** How a question is answered. */
export interface Terms {
  /** The clock of whoever asks, in milliseconds since 1970. */
  readonly now: () => number;
  /** How old what is read may be, in milliseconds. */
  readonly maxAgeMs: number;
  /** How long it may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** A question has taken as long as it may. */
export class TookTooLong extends Error {
  override readonly name = "TookTooLong";
}

export interface Read<K extends Kind> {
  readonly answer: AnswerOf<K>;
  readonly throughMs: number;
}

/**
 * A segment may lack a change for so many times `maxAgeMs`, usually 45 seconds: the worker looks for changes that are 10
 * seconds old every 20 seconds, and takes some time to seal.
 */
const lateTimes = 1.5;

/** How often a question begins again because what it reads has changed meanwhile. */
const changesMax = 4;

/** Answers questions from segments, and from events where there are none. */
export async function readAnswer<K extends Kind>(
  deps: ReaderDeps,
  kind: K,
  question: QuestionOf<K>,
  terms: Terms,
): Promise<Read<K>> {
  const end = performance.now() + terms.timeoutMs;
  for (let changes = 0; ; ) {
    if (performance.now() > end) throw new TookTooLong("a question began again until its time was over");
    const reading = createReading(deps, question.scope, terms, { end, isFirst: changes === 0 });
    try {
      const answer = await answers[kind](reading, question);
      return { answer, throughMs: reading.throughMs() };
    } catch (error) {
      // The next look leaves a broken segment out, so there is an end to them.
      if (error instanceof BrokenSegment) deps.onFault(error.message);
      else if (!(error instanceof ChangedMeanwhile)) throw error;
      else if (changes >= changesMax) throw new NotSealed("segments are sealed again too often to be read");
      else changes += 1;
    } finally {
      // It is weighed again, with what the question has added to it.
      deps.memoryOf(question.scope.workspaceId);
    }
  }
}

type Reading = ReturnType<typeof createReading>;

/** One look at a workspace for one question. It notes how far what it reads goes. */
function createReading(
  deps: ReaderDeps,
  { workspaceId }: Scope,
  { now, maxAgeMs }: Terms,
  { end, isFirst }: { readonly end: number; readonly isFirst: boolean },
) {
  const memory = deps.memoryOf(workspaceId);
  let throughMs = now();

  /** What is read holds what was stored by this time, as `performance.now` has it. */
  function goesTo(at: number): void {
    throughMs = Math.min(throughMs, now() - Math.ceil(performance.now() - at));
  }

  async function fresh<Value>(reading: (maxAgeMs: number) => Promise<Aged<Value>>): Promise<Value> {
    const { value, beganAt } = await reading(isFirst ? maxAgeMs : 0);
    goesTo(beganAt);
    return value;
  }

  return {
    pool: deps.pool,
    memory,
    fresh,
    throughMs: () => throughMs,
    /**
     * Gives a kernel the visits of a scope, and answers with what it makes of them. With `historyMs` it does not give
     * segments that end before that moment, but those who were seen in them. With `known` it answers as of that state.
     */
    async run<Answer>(
      scope: Scope,
      kernelOf: KernelOf<Answer>,
      { historyMs = 0, known }: RunOptions = {},
    ): Promise<Answer> {
      const { from, to } = scope;
      const [links, state] = await Promise.all([
        readLinkFilter(deps.pool, scope),
        known ?? fresh(memory.state),
      ]);
      const range = { fromMs: from?.getTime() ?? 0, toMs: to?.getTime() ?? Number.MAX_SAFE_INTEGER };
      const of = { workspaceId, memory, state, range, links, lateMs: maxAgeMs * lateTimes };
      const sources = await deps.spans.sources(of);
      for (const source of sources)
        if ("segment" in source && source.segment.markedAt !== undefined) goesTo(source.segment.markedAt);
      const { numbers } = memory;
      const { moves } = state;
      const read = async <Result>(some: readonly Source[], kernel: Kernel<Result>): Promise<Result> => {
        const inTime = (take: (span: Span) => void) => (span: Span) => {
          if (performance.now() > end) throw new TookTooLong("a question took too long");
          take(span);
        };
        await deps.spans.each(of, some, kernel.columns, inTime(kernel.add));
        if (kernel.addAgain) await deps.spans.each(of, some, kernel.columns, inTime(kernel.addAgain));
        return kernel.finish();
      };
      const early = historyLength(sources, historyMs);
      const seen = await seenIn(
        { histories: numbers.histories, moves },
        sources.slice(0, early),
        scope,
        read,
      );
      return read(
        sources.slice(early),
        kernelOf((name) => numbers.texts(name).texts, moves, seen),
      );
    },
  };
}

interface RunOptions {
  readonly historyMs?: number | undefined;
  readonly known?: State;
}

type KernelOf<Answer> = (textsOf: TextsOf, moves: Moves, seen: Bits) => Kernel<Answer>;

/** How many of the first sources are segments that end before a moment. */
function historyLength(sources: readonly Source[], historyMs: number): number {
  const length = sources.findIndex((source) => !("segment" in source && source.segment.endsMs <= historyMs));
  return length === -1 ? sources.length : length;
}

/** Who was seen in the first segments. It is kept, because ranges that end today have much the same history. */
async function seenIn(
  { histories, moves }: { readonly histories: Histories; readonly moves: MovesThen },
  sources: readonly Source[],
  { linkId = "", tagKey }: Scope,
  read: (some: readonly Source[], kernel: Kernel<Bits>) => Promise<Bits>,
): Promise<Bits> {
  if (sources.length === 0) return noBits;
  const versions = sources.flatMap((source) => ("segment" in source ? [source.segment.version] : []));
  // The links of a tag change.
  const isKept = tagKey === undefined;
  const known = isKept ? histories.longest(linkId, versions, moves) : { seen: noBits, covered: 0 };
  if (known.covered === versions.length) return known.seen;
  const seen = await read(sources.slice(known.covered), historyKernel(known.seen, moves));
  if (isKept) histories.keep({ links: linkId, versions, seen, moves });
  return seen;
}

type AnswerKind<K extends Kind> = (reading: Reading, question: QuestionOf<K>) => Promise<AnswerOf<K>>;

const answers: { readonly [K in Kind]: AnswerKind<K> } = {
  groups: ({ run }, question) => run(question.scope, (textsOf) => groupsKernel(question, textsOf)),
  series: ({ run }, question) => run(question.scope, (textsOf) => seriesKernel(question, textsOf)),
  intervals: ({ run }, question) => run(question.scope, () => intervalsKernel(question)),
  hours: ({ run }, question) => run(question.scope, () => hoursKernel(question)),
  summary: ({ run }, { scope }) => run(scope, summaryKernel),
  // Whoever came before the range returns in it.
  visitors: ({ run }, question) =>
    run(
      { ...question.scope, from: undefined },
      (_textsOf, moves, seen) => visitorsKernel(question, moves, seen),
      { historyMs: question.scope.from?.getTime() },
    ),
  async topLinks({ run, pool }, question) {
    const { scope, limit } = question;
    const visits = await run(scope, (textsOf) => linksKernel(question, textsOf));
    return readTopLinks(pool, scope.workspaceId, visits, limit);
  },
  async funnel({ run, fresh, memory }, { scope }) {
    const { state: known, value: identified } = await fresh(memory.identified);
    return run(scope, (textsOf, moves) => funnelKernel(textsOf, moves, identified), { known });
  },
  attribute: (reading, question) => ofAudience(reading, question, numbersKernel),
  attributeGroups: (reading, question) =>
    ofAudience(reading, question, (audience) => valueGroupsKernel(audience, question)),
  attributeValues: (reading, question) =>
    ofAudience(reading, question, (audience) => newestValuesKernel(audience, question)),
};

async function ofAudience<Answer>(
  { run, fresh, memory }: Reading,
  { scope, key }: Attribute,
  kernelOf: (audience: Audience) => AttributeKernel<Answer>,
): Promise<Answer> {
  const { state: known, value } = await fresh(memory.given(key));
  const audience = await run(scope, (_textsOf, moves) => audienceKernel(moves), { known });
  const kernel = kernelOf(audience);
  for (const chunk of value.chunks) kernel.add(chunk);
  return kernel.finish();
}
