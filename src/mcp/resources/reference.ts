import { groupPage, indexPage, typePage } from "../reference-pages.ts";
import type { Resource } from "../tool.ts";

const indexAddress = "signpost://api";
const typesAddress = `${indexAddress}/types/`;

const markdown = { mimeType: "text/markdown", scopes: [] } as const;

/** The API reference as resources. Everybody who has a grant may read it, since it is public. */
export const referenceResources: readonly Resource[] = [
  {
    uri: indexAddress,
    name: "api",
    title: "API reference",
    description: "The groups of operations, and where the page of each is.",
    ...markdown,
    read: async (uri) => (uri === indexAddress ? indexPage() : undefined),
  },
  {
    uriTemplate: `${indexAddress}/{group}`,
    name: "api-group",
    title: "Operations of a group",
    description: "What each operation of a group takes and answers, such as signpost://api/workflow-steps.",
    ...markdown,
    read: async (uri) => {
      const [, group] = /^signpost:\/\/api\/([a-z-]{1,64})$/.exec(uri) ?? [];
      return group === undefined ? undefined : groupPage(group);
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
      uri.startsWith(typesAddress) ? typePage(uri.slice(typesAddress.length)) : undefined,
  },
];
