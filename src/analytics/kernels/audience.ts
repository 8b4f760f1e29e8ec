import { held, type Kernel, type People } from "./span.ts";

/** The visitors of a scope. */
export interface Audience {
  readonly size: number;
  /** 1 at the numbers of its visitors. It may end early. */
  readonly has: Uint8Array;
}

export function audienceKernel(people: People): Kernel<Audience> {
  let has = new Uint8Array(0);
  return {
    columns: ["people"],
    add(span) {
      const all = held(span, "people");
      const { rows } = span;
      const { became } = people;
      if (has.length < people.count()) {
        const more = new Uint8Array(2 * people.count());
        more.set(has);
        has = more;
      }
      for (let row = 0; row < rows.length; row++) {
        const one = all[rows[row] ?? 0] ?? 0;
        has[one < became.length ? (became[one] ?? 0) : one] = 1;
      }
    },
    finish() {
      const areVisitors = people.areVisitors();
      let size = 0;
      for (let person = 0; person < has.length; person++) {
        if (areVisitors[person] !== 1) has[person] = 0;
        size += has[person] ?? 0;
      }
      return { size, has };
    },
  };
}
