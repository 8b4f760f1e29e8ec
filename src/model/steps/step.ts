import type { JsonFields } from "../json-fields.ts";
import type { Platform } from "../links/platform.ts";

/**
 * The role of a step in its workflow: the contract's `WorkflowStep.Kind`. A kind of step, in this code, is an action.
 */
export type StepRole = "ENTRY" | "EXIT" | "INTERACTION" | "CONDITION";

/** COMPOSITE steps have a branch for each choice, ATOMIC ones a single `next`, or none when they are exits. */
export type NodeType = "COMPOSITE" | "ATOMIC";

/**
 * A fact that a walk may need from the database: whether the device has visited the link before (`visitType`), or the
 * visitor's attributes (`visitor`).
 */
export type Lookup = "visitType" | "visitor";

/**
 * Everything that follows from a step's action. Nothing is optional: a new action does not compile before it has an
 * answer to every question here.
 */
export interface StepFacts<Payload> {
  readonly kind: StepRole;
  readonly nodeType: NodeType;
  /** The JSON name of the payload's variant, in steps. */
  readonly payload: string;
  /** The JSON name of the data's variant, in traces. */
  readonly trace: string;
  /** Whether people see a page at the step. */
  readonly hasPage: boolean;
  /** The JSON name, in simulations, of the answer that fits the page. Undefined for steps that ask nothing. */
  readonly answeredBy: "passwordMatches" | "form" | "proceed" | "button" | "socialLink" | undefined;
  /** Whether attribute capture can name the button that was pressed. */
  readonly offersChoice: boolean;
  /** Where traces say what visitors could choose and what they chose. Undefined where they choose nothing. */
  readonly traced: TracedList | TracedOutcomes | undefined;
  /** The list in the payload whose elements have ids or branches. */
  readonly list: ElementList | undefined;
  /** The paths of addresses in the payload that visitors are sent to, such as `links[].url`. They are screened. */
  readonly urls: readonly string[];
  /** The list of links in the payload that stand for platforms, and those platforms. Undefined without one. */
  readonly platforms: { readonly list: string; readonly among: readonly Platform[] } | undefined;
  /** Reads a stored payload. Undefined when it is broken. */
  readonly read: (stored: JsonFields) => Payload | undefined;
  /** What people are told when a visitor has completed the step, such as `Form submitted`. */
  readonly completed: string;
  /** Why a payload that the API accepts can still be broken, in words for people. */
  readonly brokenBecause: string;
  /** Why the step cannot do its work although its payload can be read, in words for people. */
  readonly faultsOf: (payload: Payload) => readonly string[];
  /** What a walk must know to pass the step. */
  readonly lookupsOf: (payload: Payload) => readonly Lookup[];
  /**
   * Whether the step may let a visitor on who has answered nothing. The entry and conditions always do, whatever this
   * says.
   */
  readonly skipsItself: (payload: Payload) => boolean;
}

/** Choices that traces list. Each has an id and, under `label`, what people call it. */
export interface TracedList {
  readonly list: string;
  readonly label: string;
  /** The field with the choice that was made. */
  readonly chosen: string;
}

/** Choices that are the same for all steps of the action. */
export interface TracedOutcomes {
  readonly outcomes: readonly string[];
  /** The field with the outcome. */
  readonly chosen: string;
}

/** A list in a payload. Elements with an empty id are given one. */
export interface ElementList {
  /** Its JSON name. */
  readonly name: string;
  /** Undefined where elements are not branches. */
  readonly branch: BranchFields | undefined;
}

/** Where an element says which branch it is. */
export interface BranchFields {
  /** The field that holds the branch's id. */
  readonly id: string;
  /** The field that people read. */
  readonly label: string;
  /** Whether branches are sorted by their `order`. Otherwise they keep the order of the list. */
  readonly isOrdered: boolean;
}

/** For steps whose payload is never broken when the API accepts it. */
export const unreadable = "the payload cannot be read: send it again";

/** For steps that can work with any readable payload, or that look nothing up. */
export const nothing = (): readonly never[] => none;

/** For steps that let nobody on without an answer, or that ask nothing. */
export const never = (): boolean => false;

const none: readonly never[] = Object.freeze([]);
