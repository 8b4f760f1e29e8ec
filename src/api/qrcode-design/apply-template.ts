import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ApplyQrcodeTemplateRequest,
  ApplyQrcodeTemplateResponseSchema,
} from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { fail, invalid } from "../../lib/errors.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { toQrcodeDesign } from "../resources/qrcode-design.ts";
import { toScannability } from "./message.ts";
import { findApplication, restyleDesign } from "./queries.ts";
import { drawingOf } from "./restyle.ts";
import { checkScannable, verify } from "./scannability.ts";

/** Tries the look of a template on the design of a link, and leaves the look to be copied. The design keeps its id. */
export async function prepareApplication(
  deps: Deps,
  request: ApplyQrcodeTemplateRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof ApplyQrcodeTemplateResponseSchema>>> {
  const { workspaceId } = callerOf(context);
  const { linkId, qrcodeTemplateId: templateId, templateSlug: slug } = request;
  if ((templateId === "") === (slug === ""))
    throw invalid(
      ["qrcodeTemplateId", "templateSlug"].map((field) => ({
        field,
        description: "give exactly one of qrcodeTemplateId and templateSlug",
      })),
      "ONE_OF_REQUIRED",
    );
  const found = await findApplication(context.db, workspaceId, { linkId, templateId, slug });
  const { design: before, template } = found;
  if (before === undefined) throw notFound("linkId", `link ${linkId}`);
  if (template === undefined)
    throw slug === ""
      ? notFound("qrcodeTemplateId", `QR code template ${templateId}`)
      : notFound("templateSlug", `public QR code template ${slug}`);
  const { id, options } = template;
  const scannability = await verify(deps, before, options, context.signal);
  checkScannable(request, scannability);
  const at = deps.now();
  const isChange = found.qrcode_template_id !== id || !isDeepStrictEqual(options, before.options);
  const after = isChange ? { ...before, options, updated_at: at } : before;
  return async (db) => {
    const restyling = { before, options, at, templateId: id, drawing: drawingOf(deps, before) };
    if (isChange && !(await restyleDesign(db, restyling))) return undefined;
    return {
      qrcodeDesign: toQrcodeDesign(after, fileSigner(deps)),
      scannability: toScannability(scannability),
    };
  };
}

function notFound(field: string, what: string): Error {
  return fail("NOT_FOUND", "NOT_FOUND", `${field}: there is no ${what} that this workspace can use`);
}
