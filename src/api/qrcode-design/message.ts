import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ScannabilityCauseKind,
  ScannabilityGrade,
  ScannabilityReaderClass,
  type ScannabilitySchema,
} from "../../../gen/signpost/v1/qrcode_design_pb.js";
import type { Scannability } from "../../qr/gate/verify.ts";

export function toScannability({
  score,
  grade,
  readable,
  classes,
  cases,
  failingCase = "",
  causes,
  changes,
}: Scannability): MessageInitShape<typeof ScannabilitySchema> {
  return {
    score,
    grade: ScannabilityGrade[grade],
    readable,
    classes: classes.map(({ readerClass, passed, margin }) => ({
      readerClass: ScannabilityReaderClass[readerClass],
      passed,
      margin,
    })),
    cases: cases.map(({ name, reader, passed }) => ({ name, reader, passed })),
    failingCase,
    causes: causes.map(({ cause, message }) => ({ cause: ScannabilityCauseKind[cause], message })),
    changes: changes.map(({ field, value, message }) => ({ field, value, message })),
  };
}
