import { CreateLinkRequestSchema } from "../../../gen/signpost/v1/links_service_pb.js";
import { columnNames } from "./columns.ts";

/** What the help of `signpost links import` says beside the usage. */
export function importHelp(): string {
  return `The first row names the columns, in any order and any writing (expires-at, expiresAt, Expires at):
  ${columnNames(CreateLinkRequestSchema).join("\n  ")}

destination is required. An empty cell leaves its field out. A cell of tags has several, with commas or semicolons between
them; a directory is given by its path (Campaigns/Print) or its id. The file is in UTF-8, with commas, semicolons or tabs
between the cells.

Each 250 rows are made by one job, all or none, and an import stops at the first that cannot be made. It can be repeated
with the same token for 24 hours: rows that are made already are not made again, as long as they stay where they are.

  --dry-run                make nothing, and name every bad row by its line and column
  --watch                  wait until the links are made, and show how far it is
  --from-line LINE         leave out rows on earlier lines
  --idempotency-key KEY    the name under which the service remembers this import; "import" when absent
  --profile NAME           the service and token that login kept under this name
`;
}
