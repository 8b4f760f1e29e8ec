import { type JsonFields, objectOf, textOf } from "../json-fields.ts";
import { type BranchFields, type Lookup, never, nothing, type StepFacts, unreadable } from "./step.ts";

/** The choices of a condition, in the order they are tried. */
export interface Choices<Choice> {
  readonly choices: readonly Choice[];
}

/** One way out of a condition. */
export interface Choice {
  readonly branchId: string;
}

export interface NamedChoice extends Choice {
  readonly id: string;
  readonly name: string;
}

/** What makes one kind of condition different from the others. */
interface ConditionKind<Name, Option> {
  /** The JSON name of its variant, in steps and in traces. */
  readonly name: Name;
  /** The JSON name of its choices. */
  readonly list: "options" | "ranges" | "countries";
  readonly branch: BranchFields;
  /** Reads a choice; undefined when it is broken. */
  readonly read: (choice: JsonFields) => Option | undefined;
  /** What a choice lacks, so that it matches nobody. Undefined when it lacks nothing. */
  readonly lackOf: (choice: Option) => { readonly name: string; readonly what: string } | undefined;
  readonly lookups: readonly Lookup[];
}

/** The facts of a condition: it has a branch for every choice, shows no page and sends nobody to an address. */
export function conditionFacts<const Name extends string, Option extends Choice>({
  name,
  list,
  branch,
  read,
  lackOf,
  lookups,
}: ConditionKind<Name, Option>) {
  return {
    kind: "CONDITION",
    nodeType: "COMPOSITE",
    payload: name,
    trace: name,
    hasPage: false,
    answeredBy: undefined,
    offersChoice: false,
    traced: undefined,
    list: { name: list, branch },
    urls: [],
    platforms: undefined,
    read: (stored): Choices<Option> | undefined => readChoices(stored[list], read),
    completed: `${wordsOf(name)} checked`,
    brokenBecause: unreadable,
    faultsOf: ({ choices }) =>
      choices.flatMap((choice) => {
        const lack = lackOf(choice);
        return lack === undefined ? [] : [unmatched(lack.name, lack.what)];
      }),
    lookupsOf: () => lookups,
    skipsItself: never,
  } as const satisfies StepFacts<Choices<Option>>;
}

/** The branches of choices that have a name. */
export const namedBranch: BranchFields = { id: "id", label: "name", isOrdered: false };

export function namedOf({ id, name }: JsonFields): NamedChoice {
  return { branchId: textOf(id), id: textOf(id), name: textOf(name) };
}

/** For choices that can always match somebody. */
export const lacksNothing = (): undefined => undefined;

/** For conditions that are decided by the request alone. */
export const noLookups = nothing();

/** One broken choice breaks its condition, because nobody can say which visitors would have taken it. */
function readChoices<Option extends Choice>(
  stored: unknown,
  read: (choice: JsonFields) => Option | undefined,
): Choices<Option> | undefined {
  const list = stored ?? [];
  if (!Array.isArray(list)) return undefined;
  const found: Option[] = [];
  for (const item of list) {
    const choice = read(objectOf(item));
    if (choice === undefined || choice.branchId === "") return undefined;
    found.push(choice);
  }
  return { choices: found };
}

function unmatched(name: string, what: string): string {
  return `option ${JSON.stringify(name)} has no ${what} and matches nobody: complete it`;
}

/** `dayOfWeekCondition` as people write it: `Day of week condition`. */
function wordsOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
