import { getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { RegisteredService } from "../rpc/handlers.ts";

/** The page, in Markdown, that names every operation which answers UNIMPLEMENTED. */
export function unbuiltPage(services: readonly RegisteredService[]): string {
  const operations = services
    .flatMap(({ service }) => service.methods)
    .filter(({ methodKind }) => methodKind === "unary");
  const rows = services.flatMap(({ service, unbuilt }) =>
    service.methods
      .filter(({ localName }) => unbuilt.has(localName))
      .map((method) => `| ${service.name}.${method.name} | ${routeOf(method)} |`),
  );
  return `# Operations that are not built yet

${rows.length} of ${operations.length} operations answer UNIMPLEMENTED (501 over REST) to a call that is otherwise allowed and valid.
This page is made by \`npm run generate\` from the registered services.

| operation | route |
|---|---|
${rows.join("\n")}
`;
}

function routeOf(method: RegisteredService["service"]["methods"][number]): string {
  if (!hasOption(method, http)) return "";
  const { pattern } = getOption(method, http);
  return typeof pattern.value === "string" ? `\`${pattern.case?.toUpperCase()} ${pattern.value}\`` : "";
}
