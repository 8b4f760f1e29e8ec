import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { QrcodeDesigns } from "../../../gen/database.ts";
import { QrcodeDesignSchema } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import { type DesignOptions, defaultDesignOptions } from "../../model/look/design-options.ts";
import { centralImageKeyOf } from "../../qr/designs/load-design.ts";
import type { SignFile } from "./file-address.ts";
import type { JsonRow } from "./json-row.ts";

type Shown = "id" | "options" | "created_at" | "updated_at";

/** What the message of a design needs, from a row of its own or inside JSON. */
export type QrcodeDesignRow = Pick<Selectable<QrcodeDesigns>, Shown> | Pick<JsonRow<QrcodeDesigns>, Shown>;

export function toQrcodeDesign(
  row: QrcodeDesignRow,
  signFile: SignFile,
): MessageInitShape<typeof QrcodeDesignSchema> {
  // The column is only ever written with objects. A stored one may hold fields of later versions.
  const options = { ...defaultDesignOptions, ...(row.options as DesignOptions) };
  const key = centralImageKeyOf(options);
  return {
    ...fromJson(QrcodeDesignSchema, options, { ignoreUnknownFields: true }),
    id: row.id,
    centralImageSignedUrl: key === undefined ? "" : signFile(key),
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}
