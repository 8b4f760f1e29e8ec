import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  QrcodeDesignSchema,
  ScannabilityCauseKind,
  type ScannabilitySchema,
} from "../../../gen/signpost/v1/qrcode_design_pb.js";
import { type DesignOptions, defaultDesignOptions } from "../../model/look/design-options.ts";
import { centralImageKeyOf } from "../../qr/designs/load-design.ts";
import type { Scannability } from "../../qr/gate/verify.ts";
import type { Deps } from "../deps.ts";
import type { DesignRow } from "./queries.ts";

/** How long the address of the picture in the middle is good for, in milliseconds. */
const urlMs = 60 * 60 * 1000;

export function toQrcodeDesign(
  { now, signFileUrl }: Deps,
  row: Pick<DesignRow, "id" | "options" | "created_at" | "updated_at">,
): MessageInitShape<typeof QrcodeDesignSchema> {
  // The column is only ever written with objects; stored ones may hold what later versions add.
  const options = { ...defaultDesignOptions, ...(row.options as DesignOptions) };
  const key = centralImageKeyOf(options);
  return {
    ...fromJson(QrcodeDesignSchema, options, { ignoreUnknownFields: true }),
    id: row.id,
    centralImageSignedUrl: key === undefined ? "" : signFileUrl(key, new Date(now().getTime() + urlMs)),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

export function toScannability({
  score,
  readable,
  cases,
  failingCase = "",
  causes,
}: Scannability): MessageInitShape<typeof ScannabilitySchema> {
  return {
    score,
    readable,
    cases: cases.map(({ name, reader, passed }) => ({ name, reader, passed })),
    failingCase,
    causes: causes.map(({ cause, message }) => ({ cause: ScannabilityCauseKind[cause], message })),
  };
}
