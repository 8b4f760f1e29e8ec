import { isDeepStrictEqual } from "node:util";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { QrcodeDesignSchema } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import type {
  UpdateQrcodeDesignRequest,
  UpdateQrcodeDesignResponseSchema,
} from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { toQrcodeDesign } from "../resources/qrcode-design.ts";
import { storeCentralImage } from "./central-image.ts";
import { toScannability } from "./message.ts";
import { changedOptions, type DesignField, fieldValues, isDesignField } from "./options.ts";
import { findDesign, restyleDesign } from "./queries.ts";
import { checkDesignChangeable, drawingOf, noSuchDesign, optionsOf } from "./restyle.ts";
import { checkScannable, verify } from "./scannability.ts";

/**
 * Tries the changed look of a design, and leaves the change to be written. The link or template that shows the design
 * is drawn again.
 */
export async function prepareChange(
  deps: Deps,
  asked: UpdateQrcodeDesignRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof UpdateQrcodeDesignResponseSchema>>> {
  const { workspaceId } = callerOf(context);
  const before = await findDesign(context.db, workspaceId, asked.id);
  // The picture of the request is not read for a missing design.
  if (before === undefined) throw noSuchDesign(asked.id);
  checkDesignChangeable(before);
  const request = context.complete(asked, () =>
    create(QrcodeDesignSchema, toQrcodeDesign(before, fileSigner(deps))),
  );
  const wanted = readDesignUpdate(request);
  const { data } = wanted;
  const stored = data === undefined ? undefined : await storeCentralImage(deps, context, data);
  const change = { request, given: wanted.given, centralImageKey: wanted.isImageDeleted ? null : stored };
  const options = changedOptions(optionsOf(before), change);
  const scannability = await verify(deps, before, options, context.signal);
  checkScannable(request, scannability);
  const at = deps.now();
  const isChange = !isDeepStrictEqual(options, before.options);
  const after = isChange ? { ...before, options, updated_at: at } : before;
  return async (db) => {
    const restyling = { before, options, at, drawing: drawingOf(deps, before) };
    if (isChange && !(await restyleDesign(db, restyling))) return undefined;
    return {
      qrcodeDesign: toQrcodeDesign(after, fileSigner(deps)),
      scannability: toScannability(scannability),
    };
  };
}

interface DesignUpdate {
  readonly given: ReadonlySet<DesignField>;
  /** A new picture for the middle. */
  readonly data: Uint8Array | undefined;
  readonly isImageDeleted: boolean;
}

/** Throws INVALID_ARGUMENT for fields that contradict each other. */
export function readDesignUpdate(request: UpdateQrcodeDesignRequest): DesignUpdate {
  const { centralImageData, centralImageDelete, updateMask } = request;
  const values = {
    ...fieldValues(request),
    central_image_data: centralImageData,
    central_image_delete: centralImageDelete,
  };
  const named = fieldsToChange(values, updateMask?.paths);
  const isImageDeleted = named.has("central_image_delete") && centralImageDelete;
  // Empty data counts as no field. The flag takes a picture away.
  const isImageGiven = named.has("central_image_data") && centralImageData.length > 0;
  if (isImageDeleted && isImageGiven)
    throw invalid(
      [{ field: "centralImageData", description: "must not be given together with centralImageDelete" }],
      "MUTUALLY_EXCLUSIVE_FIELDS",
    );
  return {
    given: new Set([...named].filter(isDesignField)),
    data: isImageGiven ? centralImageData : undefined,
    isImageDeleted,
  };
}
