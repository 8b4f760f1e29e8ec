import type { People, TextName } from "../kernels/span.ts";
import type { Numbers } from "../segments/columns.ts";
import { createPeopleNumbers } from "./people-numbers.ts";
import { createTextNumbers, type TextNumbers } from "./text-numbers.ts";

/** The numbers that the texts and the people of a workspace have in the columns that are kept. */
export interface WorkspaceNumbers {
  readonly people: People;
  /** How often visitors moved: a question that looks at people must see one answer from its beginning to its end. */
  moves(): number;
  /** How often visitors were erased: columns with people from before are not valid any more. */
  erasures(): number;
  texts(name: TextName): TextNumbers;
  /** The number of a visitor by the one in the database. */
  ofVisitor(visitor: number): number;
  peopleOf(visitors: Numbers, devices: Numbers): Uint32Array;
  /** Visitors who have become others since the last call; 0 for erased ones. */
  move(moves: readonly (readonly [visitor: number, became: number])[]): void;
  bytes(): number;
}

export function createWorkspaceNumbers(): WorkspaceNumbers {
  const byName = new Map<TextName, TextNumbers>();
  const people = createPeopleNumbers();
  const moved = new Map<number, number>();
  let became = new Uint32Array(0);
  let erasures = 0;
  let moveCount = 0;

  const becameOf = (visitor: number) => moved.get(visitor) ?? visitor;

  /** Columns that are kept have the numbers of those who moved since. */
  function follow(): Uint32Array<ArrayBuffer> {
    const all = Uint32Array.from({ length: people.count() }, (_, number) => number);
    for (const [visitor, now] of moved) {
      const number = people.known(visitor);
      if (number !== undefined && now !== 0) all[number] = people.ofVisitor(now);
    }
    return all;
  }

  return {
    people: {
      count: people.count,
      areVisitors: people.areVisitors,
      get became() {
        return became;
      },
    },
    moves: () => moveCount,
    erasures: () => erasures,
    texts(name) {
      let texts = byName.get(name);
      if (texts === undefined) {
        texts = createTextNumbers();
        byName.set(name, texts);
      }
      return texts;
    },
    ofVisitor: people.ofVisitor,
    peopleOf: (visitors, devices) => people.ofVisits(visitors, devices, becameOf),
    move(moves) {
      const news = moves.filter(([visitor, now]) => moved.get(visitor) !== now);
      if (news.length === 0) return;
      for (const [visitor, now] of news) {
        moved.set(visitor, now);
        if (now === 0 && people.known(visitor) !== undefined) erasures += 1;
      }
      became = follow();
      moveCount += 1;
    },
    bytes() {
      const texts = [...byName.values()].reduce((sum, each) => sum + each.bytes(), 0);
      return texts + people.bytes() + became.byteLength + 64 * moved.size;
    },
  };
}
