/** A column of texts, most of which come again: row i has `values[codes[i]]`. */
export interface Coded {
  readonly values: readonly string[];
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
}

/** Whole numbers up to 2^53; four bytes each as long as all of them fit. */
export type Numbers = Uint32Array | Float64Array;

/**
 * Counted visits of one workspace in a span of time, by column: row i of every column is the same visit. Rows are in the
 * order of ids, and so of time.
 */
export interface VisitColumns {
  /** Milliseconds after the beginning of the span. */
  readonly times: Uint32Array;
  /** Ids of links. */
  readonly links: Coded;
  /** Numbers of visitors; 0 for a visit without one. */
  readonly visitors: Numbers;
  /** Numbers of devices; 0 for a device that is gone. */
  readonly devices: Numbers;
  readonly visitType: Coded;
  readonly deviceType: Coded;
  /** Empty where it is not known, like the city, the browser and the platform. */
  readonly country: Coded;
  readonly city: Coded;
  readonly browser: Coded;
  readonly platform: Coded;
  /** 1 for a visit that reached an exit. */
  readonly completed: Uint8Array;
  /** Lead scores; 255 for a visit without one. */
  readonly scores: Uint8Array;
  /** What visits did at the steps of their workflows: the JSON of a `Way`. */
  readonly ways: Coded;
}

export type ColumnName = keyof VisitColumns;

/** The columns that were asked for. */
export type Columns<Name extends ColumnName> = Pick<VisitColumns, Name>;

/** What a visit did at the steps of its workflow, as a funnel counts it. */
export interface Way {
  /** One for each action, in the order of actions. */
  readonly steps: readonly {
    readonly action: string;
    readonly occurrences: number;
    /** Whether one of them was completed. */
    readonly isDone: boolean;
    /**
     * Whether a choice was made at one that offers choices. Where visits of the scope have choices of an exit, a funnel
     * counts such visits as interactions of that exit, and otherwise those that completed it.
     */
    readonly isMade: boolean;
    /** The place of the first such step among the steps of the visit, from 1. */
    readonly place: number;
  }[];
  /** What the steps offered, in the order of actions and labels, each once. */
  readonly choices: readonly {
    readonly action: string;
    readonly label: string;
    readonly isChosen: boolean;
  }[];
}
