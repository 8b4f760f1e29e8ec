/** A column of texts as it is kept for reading: row i has the text that the workspace numbers `numbers[codes[i]]`. */
export interface NumberedTexts {
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  readonly numbers: Uint32Array;
}

/** Columns as they are kept for reading. Texts and people are numbered from 0 in each workspace. */
export interface HeldColumns {
  /** Milliseconds after the beginning of the span; they never fall. */
  readonly times: Uint32Array;
  readonly links: NumberedTexts;
  /** Visitors, and devices for visits without one; 0 for nobody. */
  readonly people: Uint32Array;
  readonly visitType: NumberedTexts;
  readonly deviceType: NumberedTexts;
  readonly country: NumberedTexts;
  readonly city: NumberedTexts;
  readonly browser: NumberedTexts;
  readonly platform: NumberedTexts;
  readonly completed: Uint8Array;
  readonly scores: Uint8Array;
  readonly ways: NumberedTexts;
}

export type HeldName = keyof HeldColumns;

/** The columns whose rows are texts. */
export type TextName = Exclude<HeldName, "times" | "people" | "completed" | "scores">;

/** The visits of a span of time that a question is about. */
export interface Span {
  /** Milliseconds since 1970. */
  readonly beginsAt: number;
  /** Those that the kernel asks for. */
  readonly columns: Partial<HeldColumns>;
  /** The rows that are meant, ascending. */
  readonly rows: Uint32Array;
}

/** A column that the kernel asked for. */
export function held<Name extends HeldName>({ columns }: Span, name: Name): HeldColumns[Name] {
  const column = columns[name];
  if (column === undefined) throw new Error(`the column ${name} was not asked for`);
  return column;
}

/** The texts of a workspace's columns by their numbers. */
export type TextsOf = (name: TextName) => readonly string[];

/** Who the people of a workspace are now, by their numbers. */
export interface People {
  /** One more than the greatest number. */
  readonly count: () => number;
  /** The number of the visitor who somebody has become; numbers behind its end stand for themselves. */
  readonly became: Uint32Array;
  /** 1 for visitors, 0 for devices. */
  readonly areVisitors: () => Uint8Array;
}

/** Takes the visits of a question span by span, in the order of time, and answers it from them. */
export interface Kernel<Answer> {
  readonly columns: readonly HeldName[];
  add(span: Span): void;
  /** A second look at the same spans, for kernels that need one. It comes when all were added. */
  readonly addAgain?: (span: Span) => void;
  finish(): Answer;
}
