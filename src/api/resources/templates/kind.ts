import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { TemplateTables } from "../../../db/templates/template-tables.ts";
import type { SignFile } from "../file-address.ts";
import type { PublicRow, TemplateRow } from "./queries.ts";

/** What tells the templates of QR codes from those of page themes. They have everything else in common. */
export interface TemplateKind<
  Own extends DescMessage = DescMessage,
  Public extends DescMessage = DescMessage,
> {
  readonly tables: TemplateTables;
  /** What refusals call one. */
  readonly noun: string;
  /** What the page tokens of lists call them. */
  readonly listed: string;
  /** Whether their looks have media files, whose keys are then read with each template. */
  readonly hasMedia: boolean;
  /** Whether everyone sees the look of a template of the gallery, besides its pictures. */
  readonly showsLook: boolean;
  /** A template as a workspace that can use it sees it, and its message. */
  readonly own: Own;
  readonly toOwn: (signFile: SignFile, row: TemplateRow, workspaceId: string) => MessageInitShape<Own>;
  /** A template of the gallery as everyone sees it, and its message. */
  readonly public: Public;
  readonly toPublic: (signFile: SignFile, row: PublicRow) => MessageInitShape<Public>;
}
