import type { DescService } from "@bufbuild/protobuf";
import { type Binding, bindingsOf } from "./binding.ts";
import { decodeComponent } from "./template.ts";

/** The result of looking up a method and a path. */
export type Match =
  | { readonly kind: "found"; readonly binding: Binding; readonly segments: readonly string[] }
  | { readonly kind: "wrong-method"; readonly allow: string }
  | { readonly kind: "unknown-path" };

export interface RestRouter {
  /** Every binding of every service, in order of declaration. */
  readonly bindings: readonly Binding[];
  /** Whether some binding starts with the path's first component; `path` may include the query. */
  owns(path: string): boolean;
  /**
   * Finds the binding for a path without its query. `segments` are the path's components, still percent-encoded,
   * without the verb.
   */
  match(httpMethod: string, path: string): Match;
}

type Methods = Map<string, Binding>;

interface Node {
  /** The map is keyed by the path component. */
  readonly literals: Map<string, Node>;
  one: Node | undefined;
  rest: Node | undefined;
  /** The bindings that end at this node, by verb, then by HTTP method. */
  readonly ends: Map<string, Methods>;
}

/**
 * Builds the routes of all unary RPCs. A literal component beats `*`, which beats `**`. The most specific path is
 * chosen first, and only then the HTTP method. Throws on a wrong binding, and when two RPCs claim the same method and
 * shape.
 */
export function createRestRouter(services: readonly DescService[]): RestRouter {
  const root = createNode();
  const verbs = new Set<string>();
  const bindings: Binding[] = [];
  for (const service of services) {
    for (const method of service.methods) {
      for (const binding of bindingsOf(method)) {
        insert(root, binding);
        bindings.push(binding);
        if (binding.template.verb !== "") verbs.add(binding.template.verb);
      }
    }
  }
  return {
    bindings,
    owns(path) {
      const end = path.slice(1).search(/[/?]/);
      return root.literals.has(end === -1 ? path.slice(1) : path.slice(1, end + 1));
    },
    match(httpMethod, path) {
      const segments = path.slice(1).split("/");
      if (path[0] !== "/" || segments.includes("")) return { kind: "unknown-path" };
      return matchVerb(root, verbs, httpMethod, segments) ?? resolve(root, httpMethod, segments, "");
    },
  };
}

function createNode(): Node {
  return { literals: new Map(), one: undefined, rest: undefined, ends: new Map() };
}

function insert(root: Node, binding: Binding): void {
  let node = root;
  for (const segment of binding.template.segments) {
    if (segment.kind === "literal") {
      const next = node.literals.get(segment.text) ?? createNode();
      node.literals.set(segment.text, next);
      node = next;
    } else {
      node = node[segment.kind] ??= createNode();
    }
  }
  const { verb } = binding.template;
  const methods: Methods = node.ends.get(verb) ?? new Map();
  node.ends.set(verb, methods);
  const other = methods.get(binding.httpMethod);
  if (other !== undefined) {
    throw new Error(
      `${nameOf(binding)}: ${binding.httpMethod} "${binding.template.text}": ` +
        `${nameOf(other)} has the same shape with "${other.template.text}"`,
    );
  }
  methods.set(binding.httpMethod, binding);
}

function nameOf({ method }: Binding): string {
  return `${method.parent.typeName}.${method.name}`;
}

/** Cuts off the verb. Only verbs of some template are cut off, so any other colon belongs to the value. */
function matchVerb(
  root: Node,
  verbs: Set<string>,
  httpMethod: string,
  segments: string[],
): Match | undefined {
  const last = segments.at(-1) ?? "";
  const colon = last.lastIndexOf(":");
  if (colon <= 0) return undefined;
  const verb = decodeComponent(last.slice(colon + 1));
  if (verb === undefined || !verbs.has(verb)) return undefined;
  const match = resolve(root, httpMethod, segments.with(-1, last.slice(0, colon)), verb);
  return match.kind === "unknown-path" ? undefined : match;
}

function resolve(root: Node, httpMethod: string, segments: readonly string[], verb: string): Match {
  const methods = find(root, segments, 0, verb);
  if (methods === undefined) return { kind: "unknown-path" };
  const binding = methods.get(httpMethod) ?? (httpMethod === "HEAD" ? methods.get("GET") : undefined);
  if (binding !== undefined) return { kind: "found", binding, segments };
  const allowed = [...methods.keys()];
  if (methods.has("GET")) allowed.push("HEAD");
  return { kind: "wrong-method", allow: allowed.toSorted((a, b) => (a < b ? -1 : 1)).join(", ") };
}

function find(node: Node, segments: readonly string[], index: number, verb: string): Methods | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.ends.get(verb) ?? node.rest?.ends.get(verb);
  const literal = decodeComponent(segment);
  const next = literal === undefined ? undefined : node.literals.get(literal);
  return (
    (next && find(next, segments, index + 1, verb)) ??
    (node.one && find(node.one, segments, index + 1, verb)) ??
    node.rest?.ends.get(verb)
  );
}
