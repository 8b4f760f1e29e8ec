import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Binding } from "../../src/rest/binding.ts";

/** Where a list keeps its paging: names of parameters, and dotted paths in the answer. */
export interface Pagination {
  readonly pageSize: string;
  readonly pageToken: string;
  readonly nextPageToken: string;
  readonly items: string;
}

/** How an operation is paged; undefined when it is not. */
export function paginationOf({ method }: Binding): Pagination | undefined {
  const find = ({ fields }: DescMessage, name: string) => fields.find((field) => field.name === name);
  const [size, token] = [find(method.input, "page_size"), find(method.input, "page_token")];
  if (size === undefined || token === undefined) return undefined;
  for (const [wrapper, message] of placesOf(method.output)) {
    const next = find(message, "next_page_token");
    const items = message.fields.find((field) => field.fieldKind === "list");
    if (next === undefined || items === undefined) continue;
    const at = (field: DescField) => [...wrapper, field].map(({ jsonName }) => jsonName).join(".");
    return {
      pageSize: size.jsonName,
      pageToken: token.jsonName,
      nextPageToken: at(next),
      items: at(items),
    };
  }
  throw new Error(`${method.toString()} takes pages but does not answer with any`);
}

/** An answer and the messages that it may wrap: a list that also comes as CSV is one level down. */
function placesOf(output: DescMessage): [path: DescField[], message: DescMessage][] {
  const inner = output.fields.flatMap((field): [DescField[], DescMessage][] =>
    field.fieldKind === "message" ? [[[field], field.message]] : [],
  );
  return [[[], output], ...inner];
}
