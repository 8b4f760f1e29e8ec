import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyNode, type Node, parse } from "acorn";
import { expect, test } from "vitest";
import { shortlinkPattern } from "../../src/model/links/shortlink.ts";
import { slowness } from "../support/slow-expression.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files that build expressions at run time, and why these are safe. */
const made: Readonly<Record<string, string>> = {
  "src/model/devices/countries.ts": "one of many names, without repetitions",
  "src/model/links/shortlink.ts": "the grammar of short links, judged below",
  "src/rpc/pipeline/validate.ts": "the patterns of the proto files, judged below",
  "src/scan/device/classify.ts": "any of the tables' expressions, each of which is judged below",
  "src/scan/handler.ts": "paths that begin with a short link, of which the grammar is judged below",
};

interface Found {
  readonly place: string;
  /** Undefined when the program builds the expression at run time. */
  readonly expression: RegExp | undefined;
}

function expressionsIn(file: string, source: string): Found[] {
  const found: Found[] = [];
  const walk = (node: Node | AnyNode): void => {
    // Acorn's nodes are plain objects, and `type` tells their kind.
    const any = node as AnyNode;
    if (any.type === "Literal" && any.regex) {
      const line = source.slice(0, any.start).split("\n").length;
      found.push({
        place: `${file}:${line}`,
        expression: new RegExp(any.regex.pattern, any.regex.flags),
      });
    }
    const isCall = any.type === "NewExpression" || any.type === "CallExpression";
    if (isCall && any.callee.type === "Identifier" && any.callee.name === "RegExp")
      found.push({ place: file, expression: undefined });
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child === "object" && child !== null && "type" in child) walk(child);
      }
    }
  };
  walk(parse(stripTypeScriptTypes(source), { ecmaVersion: "latest", sourceType: "module" }));
  return found;
}

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => `src/${file}`);

const found = files.flatMap((file) => expressionsIn(file, readFileSync(join(root, file), "utf8")));

test("every regular expression takes linear time", () => {
  expect(found.length).toBeGreaterThan(300);
  const slow = found.flatMap(({ place, expression }) => {
    const why = expression === undefined ? undefined : slowness(expression);
    return why === undefined ? [] : [`${place} ${expression}: ${why}`];
  });
  expect(slow).toEqual([]);
});

test("only the known files build expressions at run time", () => {
  const places = found.filter(({ expression }) => expression === undefined).map(({ place }) => place);
  expect(new Set(places)).toEqual(new Set(Object.keys(made)));
});

test("the grammar of short links takes linear time, alone and in a path", () => {
  for (const text of [
    `^${shortlinkPattern}$`,
    `^/(${shortlinkPattern})/?$`,
    `^/(${shortlinkPattern})/s/([0-9a-f]{8})$`,
  ])
    expect(slowness(new RegExp(text)), text).toBeUndefined();
});

test("every pattern of the proto files takes linear time in every engine", () => {
  const protos = readdirSync(join(root, "proto/signpost"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".proto"))
    .map((file) => readFileSync(join(root, "proto/signpost", file), "utf8"));
  const patterns = protos.flatMap((text) => [
    ...[...text.matchAll(/\bpattern(?:: | = )"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => `"${text}"`),
    ...[...text.matchAll(/\.matches\('([^']*)'\)/g)].map(([, text]) => `"${text}"`),
  ]);
  expect(patterns.length).toBeGreaterThan(20);
  const slow = patterns.filter((text) => slowness(new RegExp(JSON.parse(text), "u")) !== undefined);
  expect(slow).toEqual([]);
});

const planted = [
  /^-?(?:\d+\.?\d*|\.\d+)$/,
  /(a+)+$/,
  /\s+$/,
  /^(?:[a-z]+-?)*$/,
  /<!doctype[^>[]*\[/i,
  /SkypeUriPreview.*Teams/,
  /\bCFNetwork\/\S+ Darwin\//,
];

test.each(planted)("a slow expression is found: %s", (expression) => {
  expect(slowness(expression)).toBeDefined();
});

test("expressions are found anywhere in the sources", () => {
  const source = 'const f = (a: string): boolean => a.split(/x+/).some((b) => new RegExp("y").test(b));';
  expect(expressionsIn("f.ts", source)).toEqual([
    { place: "f.ts:1", expression: /x+/ },
    { place: "f.ts", expression: undefined },
  ]);
});
