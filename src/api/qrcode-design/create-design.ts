import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PublicCreateQrcodeDesignRequest,
  PublicCreateQrcodeDesignResponseSchema,
} from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { newId } from "../../lib/ids.ts";
import { defaultDesignOptions } from "../../model/look/design-options.ts";
import type { Context, Write } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { toQrcodeDesign } from "../resources/qrcode-design.ts";
import { storeCentralImage } from "./central-image.ts";
import { toScannability } from "./message.ts";
import { changedOptions, fieldValues } from "./options.ts";
import { insertDesign } from "./queries.ts";
import { checkScannable, verify } from "./scannability.ts";

/** Tries a design that belongs to no link or template yet, and leaves it to be written. */
export async function prepareDesign(
  deps: Deps,
  request: PublicCreateQrcodeDesignRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof PublicCreateQrcodeDesignResponseSchema>>> {
  const { centralImageData, hideBackgroundDots } = request;
  // A field that is set to false counts as given, because its default is true.
  const values = { ...fieldValues(request), hide_background_dots: hideBackgroundDots !== undefined };
  const centralImageKey =
    centralImageData.length === 0 ? undefined : await storeCentralImage(deps, context, centralImageData);
  const given = fieldsToChange(values);
  const options = changedOptions(defaultDesignOptions, { request, given, centralImageKey });
  const scannability = await verify(deps, { shortlink: null, domain_name: null }, options, context.signal);
  checkScannable(request, scannability);
  const at = deps.now();
  return async (db) => {
    const row = await insertDesign(db, { id: newId(at), options, at });
    return {
      qrcodeDesign: toQrcodeDesign(row, fileSigner(deps)),
      scannability: toScannability(scannability),
    };
  };
}
