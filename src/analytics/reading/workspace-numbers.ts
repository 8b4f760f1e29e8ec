import { addBit, bitsFor, codeOfVisitor, type HeldPeople, type Moves, noBits } from "../kernels/people.ts";
import type { TextName } from "../kernels/span.ts";
import type { Numbers } from "../segments/columns.ts";
import { createHistories, type Histories } from "./histories.ts";
import { NotSealed } from "./read-state.ts";
import { createTextNumbers, type TextNumbers } from "./text-numbers.ts";

/** What the texts and the people of a workspace are in the columns that are kept. */
export interface WorkspaceNumbers {
  texts(name: TextName): TextNumbers;
  peopleOf(visitors: Numbers, devices: Numbers): HeldPeople;
  readonly moves: Moves;
  /** How often visitors moved: a question that looks at people must see one answer from its beginning to its end. */
  moveCount(): number;
  /** How often visitors were erased: columns with people from before are not valid any more. */
  erasures(): number;
  readonly histories: Histories;
  /** Takes visitors who have become others since the last call; 0 for erased ones. */
  move(moves: readonly (readonly [visitor: number, became: number])[]): void;
  bytes(): number;
}

/** Greater numbers have no code of 32 bits. */
const numberMax = 0x7fff_ffff;

export function createWorkspaceNumbers(): WorkspaceNumbers {
  const byName = new Map<TextName, TextNumbers>();
  const visitors = new Map<number, number>();
  const histories = createHistories();
  let moved = noBits;
  let greatest = 0;
  let erasures = 0;
  let moveCount = 0;

  return {
    texts(name) {
      let texts = byName.get(name);
      if (texts === undefined) {
        texts = createTextNumbers();
        byName.set(name, texts);
      }
      return texts;
    },
    peopleOf: (ofVisits, devices) => codePeople(ofVisits, devices, visitors),
    moves: {
      get moved() {
        return moved;
      },
      get greatest() {
        return greatest;
      },
      became: (code) => codeOfVisitor(visitors.get(code / 2) ?? code / 2),
    },
    histories,
    moveCount: () => moveCount,
    erasures: () => erasures,
    move(moves) {
      const news = moves.filter(([visitor, now]) => visitors.get(visitor) !== now);
      if (news.length === 0) return;
      moveCount += 1;
      histories.move(news);
      for (const [visitor, now] of news) {
        visitors.set(visitor, now);
        const code = codeOfVisitor(visitor);
        moved = bitsFor(moved, code);
        addBit(moved, code);
        greatest = Math.max(greatest, codeOfVisitor(now));
        // Columns have the devices of erased visitors from when they are made.
        if (now === 0) erasures += 1;
      }
    },
    bytes() {
      const texts = [...byName.values()].reduce((sum, each) => sum + each.bytes(), 0);
      return texts + histories.bytes() + moved.byteLength + 64 * visitors.size;
    },
  };
}

function codePeople(visitors: Numbers, devices: Numbers, moved: ReadonlyMap<number, number>): HeldPeople {
  const codes = new Uint32Array(visitors.length);
  let greatest = 0;
  for (let row = 0; row < codes.length; row++) {
    const known = visitors[row] ?? 0;
    const visitor = known === 0 || moved.size === 0 ? known : (moved.get(known) ?? known);
    const device = devices[row] ?? 0;
    if (visitor > numberMax || device > numberMax) throw new NotSealed("numbers of people are too great");
    const code = visitor !== 0 ? codeOfVisitor(visitor) : device === 0 ? 0 : 2 * device + 1;
    codes[row] = code;
    greatest = Math.max(greatest, code);
  }
  return { codes, greatest };
}
