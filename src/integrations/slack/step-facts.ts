import { factsByAction, type StepAction } from "../../model/steps/kinds.ts";

/** What happened at a completed step, in words. All texts are as they were typed. */
export interface StepFacts {
  /** Such as `Form submitted`. */
  readonly what: string;
  /** Names and values, such as the answers of a form. */
  readonly details: readonly Detail[];
}

export interface Detail {
  readonly name: string;
  readonly value: string;
}

/** Follows names into JSON. Undefined where the path ends early. */
export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** The text at a path into JSON; empty when there is none. */
export function textAt(json: unknown, ...path: readonly string[]): string {
  const value = valueAt(json, ...path);
  return typeof value === "string" ? value : "";
}

/** Reads the `data` of a message about a completed step. */
export function stepFactsOf(data: unknown): StepFacts {
  const action = textAt(data, "step", "eventAction").replace("EVENT_ACTION_", "");
  const facts = isAction(action) ? factsByAction[action] : undefined;
  const trace = valueAt(data, "trace", "stepData", facts?.trace ?? "");
  const isScan = facts?.kind === "ENTRY" && textAt(data, "event", "action") === "ACTION_SCAN";
  const isSkipped = valueAt(trace, "skipped") === true;
  const completed = facts?.completed ?? "Step completed";
  return {
    what: isScan ? "QR code scanned" : isSkipped ? "Form skipped" : completed,
    details: [...detailsOf(trace, facts?.traced), ...visitorOf(valueAt(data, "visitor"))],
  };
}

function isAction(name: string): name is StepAction {
  return Object.hasOwn(factsByAction, name);
}

type Traced = (typeof factsByAction)[StepAction]["traced"];

function detailsOf(trace: unknown, traced: Traced): Detail[] {
  const fields = valueAt(trace, "fields");
  const answers = (Array.isArray(fields) ? fields : []).map((field) => ({
    name: textAt(field, "label") || textAt(field, "key"),
    value: textAt(field, "value"),
  }));
  const chosen = traced !== undefined && "label" in traced ? textAt(trace, traced.chosen, traced.label) : "";
  return [
    ...answers,
    { name: "Choice", value: chosen },
    { name: "Destination", value: textAt(trace, "destination") },
  ].filter(({ value }) => value !== "");
}

function visitorOf(visitor: unknown): Detail[] {
  const names = [textAt(visitor, "firstName"), textAt(visitor, "lastName")];
  const known = [names.join(" ").trim(), textAt(visitor, "email"), textAt(visitor, "phone")];
  const value = known.filter((text) => text !== "").join(", ");
  return value === "" ? [] : [{ name: "Visitor", value }];
}
