import { readGenerated } from "../generated.ts";
import type { Resource } from "../tool.ts";
import { type Document, groupText, type Routed, typeText } from "./reference-text.ts";

/** The reference in parts: an index, a page for each group of operations, and one for each type. */
interface Reference {
  readonly index: string;
  readonly groups: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

const indexAddress = "signpost://api";
const typesAddress = `${indexAddress}/types/`;

let reading: Promise<Reference> | undefined;

/** The parts of the reference, made of the OpenAPI document with the first read. */
function reference(): Promise<Reference> {
  reading ??= makeReference();
  return reading;
}

async function makeReference(): Promise<Reference> {
  const text = await readGenerated("openapi.json");
  // The generator writes exactly this.
  const document: Document = JSON.parse(text);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Routed => ({ route: `${method.toUpperCase()} ${path}`, operation }),
    ),
  );
  const groups = new Map<string, string>();
  const lines: string[] = [];
  for (const tag of document.tags) {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag.name));
    groups.set(groupPath(tag.name), groupText(document, tag, own));
    lines.push(
      `- ${indexAddress}/${groupPath(tag.name)}: ${own.length} operations. ${tag.description ?? ""}`,
    );
  }
  const types = new Map(
    Object.keys(document.components.schemas).flatMap((name): [string, string][] => {
      const page = typeText(document, name);
      return page === undefined ? [] : [[name, page]];
    }),
  );
  return { index: indexText(lines), groups, types };
}

function indexText(lines: readonly string[]): string {
  return [
    "# The API",
    "Operations stand in groups. Read the page of the group that you need; types that it names are at",
    `${typesAddress}{name}, such as ${typesAddress}WorkflowStepPayload.`,
    "",
    ...lines,
  ].join("\n");
}

function groupPath(name: string): string {
  return name.toLowerCase().replaceAll(" ", "-");
}

const markdown = { mimeType: "text/markdown", scopes: [] } as const;

/** The API reference as resources. Everybody who has a grant may read it, since it is public. */
export const referenceResources: readonly Resource[] = [
  {
    uri: indexAddress,
    name: "api",
    title: "API reference",
    description: "The groups of operations, and where the page of each is.",
    ...markdown,
    read: async (uri) => (uri === indexAddress ? (await reference()).index : undefined),
  },
  {
    uriTemplate: `${indexAddress}/{group}`,
    name: "api-group",
    title: "Operations of a group",
    description: "What each operation of a group takes and answers, such as signpost://api/workflow-steps.",
    ...markdown,
    read: async (uri) => {
      const [, group = ""] = /^signpost:\/\/api\/([a-z-]{1,64})$/.exec(uri) ?? [];
      return (await reference()).groups.get(group);
    },
  },
  {
    uriTemplate: `${typesAddress}{name}`,
    name: "api-type",
    title: "A type and its fields",
    description:
      "The fields of a record or of a part of it, such as signpost://api/types/WorkflowStepPayload.",
    ...markdown,
    read: async (uri) =>
      uri.startsWith(typesAddress)
        ? (await reference()).types.get(uri.slice(typesAddress.length))
        : undefined,
  },
];
