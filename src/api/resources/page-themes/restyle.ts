import { isDeepStrictEqual } from "node:util";
import type { Message } from "@bufbuild/protobuf";
import type { Db } from "../../../db/open.ts";
import { type Context, callerOf } from "../../../rpc/handlers.ts";
import type { Deps } from "../../deps.ts";
import { checkMedia, lockedLookHash } from "./media-checks.ts";
import { changedStyling, type LookChange, storedLook } from "./styling.ts";
import { restyleTemplate, restyleTheme, type ThemeRow } from "./theme-queries.ts";

/** Changes the look of a locked theme as a request asks. The same look again changes nothing, not even `updated_at`. */
export async function restyle(
  { now, jobCall }: Pick<Deps, "now" | "jobCall">,
  tx: Db,
  before: ThemeRow,
  asked: LookChange & Message,
  context: Context,
): Promise<ThemeRow> {
  const { workspaceId } = callerOf(context);
  const request = context.complete(asked, () => storedLook(before.styling));
  await checkMedia(tx, workspaceId, request);
  const styling = changedStyling(before.styling, request);
  if (isDeepStrictEqual(styling, before.styling)) return before;
  const at = now();
  const { template_id: templateId } = before;
  if (templateId === null) return restyleTheme(tx, before, styling, at);
  const lookHash = await lockedLookHash(tx, workspaceId, styling);
  const drawing = jobCall("render-page-theme-thumbnail", { workspaceId, templateId });
  return restyleTemplate(tx, before, { styling, lookHash, at, drawing });
}
