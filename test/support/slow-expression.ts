import { type AST, parseRegExpLiteral } from "@eslint-community/regexpp";
import { analyse } from "scslre";

/** Long enough to reveal quadratic time, and short enough for a linear expression to finish in a millisecond. */
const attackLength = 60_000;

/** The limit of processor time for one attack; a linear expression takes less than a hundredth of it. */
const attackMsMax = 60;

/**
 * Why an expression takes more than linear time; undefined when it does not. Analysis finds repetitions that can match
 * each other's characters. It misses an expression that starts anew at each repetition of its first letters, such as
 * `/<!doctype[^>]*x/`; such expressions are run on texts made of their own beginnings.
 */
export function slowness(expression: RegExp): string | undefined {
  const { source, flags } = expression;
  const [report] = analyse({ source, flags }).reports;
  if (report !== undefined) return `${report.type} of ${JSON.stringify(report.character)}`;
  return attacks(expression)
    .find((attack) => isSlow(expression, attack))
    ?.slice(0, 50);
}

/** Texts that repeat the beginnings of possible matches and never complete one. */
function attacks(expression: RegExp): string[] {
  const { pattern } = parseRegExpLiteral(expression);
  const beginnings = new Set<string>();
  for (const { elements } of pattern.alternatives) {
    let text = "";
    for (const element of elements) {
      text += sample(element, expression.flags);
      beginnings.add(text);
    }
  }
  return [...beginnings]
    .filter((text) => text !== "")
    .map((text) => `${text.repeat(Math.ceil(attackLength / text.length))}\n\0`);
}

function isSlow({ source, flags }: RegExp, attack: string): boolean {
  const expression = new RegExp(source, flags.replace("y", ""));
  // A run that is somewhat slow may have met the collection of garbage, and is repeated.
  for (let run = 0; run < 3; run++) {
    const before = process.threadCpuUsage().user;
    expression.lastIndex = 0;
    expression.test(attack);
    const ms = (process.threadCpuUsage().user - before) / 1000;
    if (ms <= attackMsMax) return false;
    if (ms > 10 * attackMsMax) return true;
  }
  return true;
}

/** A short text that a part of an expression matches, derived character by character. */
function sample(node: AST.Element, flags: string): string {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return (node.alternatives[0]?.elements ?? []).map((each) => sample(each, flags)).join("");
    case "Quantifier":
      return sample(node.element, flags).repeat(Math.min(Math.max(node.min, 1), node.max));
    case "Character":
      return String.fromCodePoint(node.value);
    case "CharacterSet":
    case "CharacterClass":
    case "ExpressionCharacterClass":
      return candidates.find((character) => new RegExp(`^(?:${node.raw})$`, flags).test(character)) ?? "";
    default:
      return "";
  }
}

const candidates = [..."a1 A-_./\"'=<\t\u00e9\u0301\u0000\u0085"];
