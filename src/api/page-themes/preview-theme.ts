import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PreviewPageThemeRequest,
  PreviewPageThemeResponseSchema,
} from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { visitorLanguage } from "../../hosted/languages.ts";
import { samples } from "../../hosted/samples.ts";
import { renderStep } from "../../hosted/steps/render-step.ts";
import { pageImage } from "../../model/look/page-image.ts";
import { pageTheme } from "../../model/look/page-theme.ts";
import type { HostedPage } from "../../pages/page.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { findTheme } from "../resources/page-themes/theme-queries.ts";
import { findPageFiles } from "./queries.ts";

/** Draws a page of made-up content in the look of a theme, with the images and the brand line that visitors get. */
export async function previewTheme(
  { entitlements, baseUrl }: Pick<Deps, "entitlements" | "baseUrl">,
  { id, step, language }: PreviewPageThemeRequest,
  context: Context,
): Promise<MessageInitShape<typeof PreviewPageThemeResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const theme = await findTheme(context.db, workspaceId, id);
  if (theme === undefined) throw notFound("page theme", "id", id);
  const [files, { brandFreePages }] = await Promise.all([
    findPageFiles(context.db, workspaceId, id),
    entitlements.of(workspaceId, context.db),
  ]);
  const page = renderStep({
    // The rules of the field allow no other name.
    step: samples[(step || "message") as keyof typeof samples],
    linkName: "",
    theme: pageTheme(theme.styling),
    media: { badge: pageImage(files.badge), cover: pageImage(files.cover) },
    language: visitorLanguage(language),
    brandUrl: brandFreePages ? "" : baseUrl,
    action: "",
    cardUrl: "",
    entered: undefined,
    faults: new Map(),
  });
  return { page: { contentType: "text/html; charset=utf-8", data: Buffer.from(withPolicy(page)) } };
}

/** The page with its content security policy in itself, because an answer over gRPC or in a file has no headers. */
function withPolicy({ body, headers }: HostedPage): string {
  const policy = headers[headers.indexOf("Content-Security-Policy") + 1] ?? "";
  const directives = policy.split("; ").filter((directive) => !directive.startsWith("frame-ancestors"));
  // Forms lead nowhere, so that nothing is recorded.
  const whole = [...new Set([...directives, "form-action 'none'"])].join("; ");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${whole}">`;
  return body.toString().replace('<meta charset="utf-8">', (charset) => `${charset}\n${meta}`);
}
