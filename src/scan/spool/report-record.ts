import { type DeviceReport, readReport } from "../device/device-report.ts";
import { uuid } from "./field-values.ts";
import { type RawRecord, type RecordText, textOf } from "./framed-records.ts";

/** What the page of a visit has told about its device. */
export interface VisitReport {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly report: DeviceReport;
}

/** A report as it comes out of the spool. */
export interface RecordedReport extends VisitReport {
  readonly atMs: number;
}

/** The version of a report's record; records of visits and of answers have others. */
const reportVersion = 3;

export function encodeReport({ workspaceId, eventId, report }: VisitReport): RecordText {
  return { own: JSON.stringify([reportVersion, workspaceId, eventId, report]), shared: "" };
}

/** Whether a record is a report. */
export function isReport({ own }: RawRecord): boolean {
  // `[3,`
  return own[0] === 0x5b && own[1] === 0x30 + reportVersion && own[2] === 0x2c;
}

/** Reads the record of a report, or throws when it is damaged. */
export function decodeReport({ id, own }: RawRecord): RecordedReport {
  const fields: unknown = JSON.parse(textOf(own));
  const [, workspaceId, eventId, sent] = Array.isArray(fields) ? fields : [];
  const report = readReport(sent);
  if (report === undefined) throw new Error("a report is missing");
  return {
    atMs: Buffer.from(id.buffer, id.byteOffset, 16).readUIntBE(0, 6),
    workspaceId: uuid(workspaceId),
    eventId: uuid(eventId),
    report,
  };
}
