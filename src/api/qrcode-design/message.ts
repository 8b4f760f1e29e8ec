import type { MessageInitShape } from "@bufbuild/protobuf";
import { ScannabilityCauseKind, type ScannabilitySchema } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import type { Scannability } from "../../qr/gate/verify.ts";

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
