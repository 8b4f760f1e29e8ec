import { codeOfVisitor, type HeldPeople } from "../kernels/people.ts";
import type { TextName } from "../kernels/span.ts";
import type { Numbers } from "../segments/columns.ts";
import { createHistories, type Histories } from "./histories.ts";
import { createMovedVisitors, type MovedVisitors, type MovesThen } from "./moved-visitors.ts";
import { NotSealed } from "./read-state.ts";
import { createTextNumbers, type TextNumbers } from "./text-numbers.ts";

/** What the texts and the people of a workspace are in the columns that are kept. */
export interface WorkspaceNumbers {
  texts(name: TextName): TextNumbers;
  /** People as they are held while `baked` of these moves stays the same. */
  peopleOf(visitors: Numbers, devices: Numbers, moves: MovesThen): HeldPeople;
  readonly moved: MovedVisitors;
  readonly histories: Histories;
  bytes(): number;
}

/** Greater numbers have no code of 32 bits. */
const numberMax = 0x7fff_ffff;

export function createWorkspaceNumbers(): WorkspaceNumbers {
  const byName = new Map<TextName, TextNumbers>();
  const moved = createMovedVisitors();
  const histories = createHistories(moved);

  return {
    texts(name) {
      let texts = byName.get(name);
      if (texts === undefined) {
        texts = createTextNumbers();
        byName.set(name, texts);
      }
      return texts;
    },
    peopleOf(visitors, devices, { baked }) {
      return codePeople(visitors, devices, (known) => (baked === 0 ? known : moved.visitorAt(known, baked)));
    },
    moved,
    histories,
    bytes() {
      const texts = [...byName.values()].reduce((sum, each) => sum + each.bytes(), 0);
      return texts + histories.bytes() + moved.bytes();
    },
  };
}

function codePeople(visitors: Numbers, devices: Numbers, nowOf: (visitor: number) => number): HeldPeople {
  const codes = new Uint32Array(visitors.length);
  let greatest = 0;
  for (let row = 0; row < codes.length; row++) {
    const known = visitors[row] ?? 0;
    const visitor = known === 0 ? 0 : nowOf(known);
    const device = devices[row] ?? 0;
    if (visitor > numberMax || device > numberMax) throw new NotSealed("numbers of people are too great");
    const code = visitor !== 0 ? codeOfVisitor(visitor) : device === 0 ? 0 : 2 * device + 1;
    codes[row] = code;
    greatest = Math.max(greatest, code);
  }
  return { codes, greatest };
}
