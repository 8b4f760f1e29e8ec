import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateQrcodeDesignRequest,
  UpdateQrcodeDesignResponseSchema,
} from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { storeCentralImage } from "./central-image.ts";
import { toQrcodeDesign, toScannability } from "./message.ts";
import { changedOptions, type DesignChange, fieldValues, isDesignField } from "./options.ts";
import { findDesign, restyleDesign } from "./queries.ts";
import { checkChangeable, drawingOf, noSuchDesign, optionsOf, untilMade } from "./restyle.ts";
import { checkScannable, verify } from "./scannability.ts";

/** Changes a design; what shows it is drawn again. */
export async function updateDesign(
  deps: Deps,
  request: UpdateQrcodeDesignRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdateQrcodeDesignResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const found = await findDesign(context.db, workspaceId, request.id);
  if (found === undefined) throw noSuchDesign(request.id);
  checkChangeable(found);
  const change = await readChange(deps, request, context);
  return untilMade(async () => {
    const before = await findDesign(context.db, workspaceId, request.id);
    if (before === undefined) throw noSuchDesign(request.id);
    const options = changedOptions(optionsOf(before), change);
    const scannability = await verify(deps, before, options);
    checkScannable(request, scannability);
    const at = deps.now();
    const isChange = !isDeepStrictEqual(options, before.options);
    if (isChange) {
      const restyling = { before, options, at, drawing: drawingOf(deps, before) };
      if (!(await restyleDesign(context.db, restyling))) return undefined;
    }
    const after = isChange ? { ...before, options, updated_at: at } : before;
    return { qrcodeDesign: toQrcodeDesign(deps, after), scannability: toScannability(scannability) };
  });
}

async function readChange(
  deps: Deps,
  request: UpdateQrcodeDesignRequest,
  context: Context,
): Promise<DesignChange> {
  const { centralImageData: data, centralImageDelete, updateMask } = request;
  const values = {
    ...fieldValues(request),
    central_image_data: data,
    central_image_delete: centralImageDelete,
  };
  const named = fieldsToChange(values, updateMask?.paths, ["id", "require_scannable"]);
  const given = new Set([...named].filter(isDesignField));
  const isDeleted = named.has("central_image_delete") && centralImageDelete;
  // No data equals no field: what takes a picture away is the flag.
  const isGiven = named.has("central_image_data") && data.length > 0;
  if (isDeleted && isGiven)
    throw invalid(
      [{ field: "centralImageData", description: "must not come together with centralImageDelete" }],
      "MUTUALLY_EXCLUSIVE_FIELDS",
    );
  if (isDeleted) return { request, given, centralImageKey: null };
  const centralImageKey = isGiven ? await storeCentralImage(deps, context, data) : undefined;
  return { request, given, centralImageKey };
}
