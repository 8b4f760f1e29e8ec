import type { JsonFields } from "../json-fields.ts";
import type { Platform } from "../links/platform.ts";

/** The part a step plays in its workflow. */
export type StepKind = "ENTRY" | "EXIT" | "INTERACTION" | "CONDITION";

/** COMPOSITE steps have a branch for each choice, ATOMIC ones a single `next`, or none when they are exits. */
export type NodeType = "COMPOSITE" | "ATOMIC";

/** What may have to be looked up before a walk: whether the device has been here before; what is known of the visitor. */
export type Lookup = "visitType" | "visitor";

/**
 * Everything that follows from a step's action. Nothing is optional: whoever adds an action answers every question here,
 * and the compiler asks them all.
 */
export interface StepFacts<Payload> {
  readonly kind: StepKind;
  readonly nodeType: NodeType;
  /** The JSON name of the payload's variant, in steps. */
  readonly payload: string;
  /** The JSON name of the data's variant, in traces. */
  readonly trace: string;
  /** Whether people meet a page at the step. */
  readonly hasPage: boolean;
  /** The answer to the page that fits, by its JSON name in simulations; undefined for steps that ask nothing. */
  readonly answeredBy: "passwordMatches" | "form" | "proceed" | "button" | "socialLink" | undefined;
  /** Whether attribute capture can speak of the button that was pressed. */
  readonly offersChoice: boolean;
  /** The list in the payload whose elements have ids or branches. */
  readonly list: ElementList | undefined;
  /** Where in the payload addresses stand that visitors are sent to, such as `links[].url`: they are screened. */
  readonly urls: readonly string[];
  /** The list of links in the payload that stand for platforms, and the platforms they may stand for. */
  readonly platforms: { readonly list: string; readonly among: readonly Platform[] } | undefined;
  /** Reads a stored payload; undefined when it is broken. */
  readonly read: (stored: JsonFields) => Payload | undefined;
  /** Why a payload that the interface takes is broken all the same, in words for people. */
  readonly brokenBecause: string;
  /** Why the step cannot do its work though its payload can be read, in words for people. */
  readonly faultsOf: (payload: Payload) => readonly string[];
  /** What a walk must know to pass the step. */
  readonly lookupsOf: (payload: Payload) => readonly Lookup[];
  /** Whether the step may let a visitor on who has answered nothing. The entry and conditions always do. */
  readonly skipsItself: (payload: Payload) => boolean;
}

/** A list in a payload; elements with an empty id are given one. */
export interface ElementList {
  /** Its JSON name. */
  readonly name: string;
  /** Undefined where elements are no branches. */
  readonly branch: BranchFields | undefined;
}

/** Where an element says which branch it is. */
export interface BranchFields {
  /** The field that holds the branch's id. */
  readonly id: string;
  /** The field that people read. */
  readonly label: string;
  /** Whether branches come by their `order`, and not as they stand in the list. */
  readonly isOrdered: boolean;
}

/** Of steps whose payload cannot be broken by what the interface takes. */
export const unreadable = "the payload cannot be read: give it anew";

/** Of steps that can do their work with any payload that can be read, and that look nothing up. */
export const nothing = (): readonly never[] => none;

/** Of steps that let nobody on who has answered nothing, or that ask nothing. */
export const never = (): boolean => false;

const none: readonly never[] = Object.freeze([]);
