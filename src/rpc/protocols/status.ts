import { create, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.js";
import { type ErrorDetail, errorDetails } from "../../lib/error-details.ts";
import { type CallError, codeNumbers } from "../../lib/errors.ts";

/** A detail of an error as a google.rpc message. */
export interface DetailMessage {
  readonly desc: DescMessage;
  readonly value: Message;
}

// Clients refuse more than 8 KiB of headers in all, and base64 adds a third to this.
const statusBytesMax = 4096;
const messageLengthMax = 1024;

/** The same details that REST sends, as messages. */
export function detailMessages(error: CallError): DetailMessage[] {
  return errorDetails(error).map(toMessage);
}

/** The metadata that ends a gRPC call: `grpc-status`, and for an error its message and `google.rpc.Status`. */
export function statusTrailers(error: CallError | undefined): Record<string, string> {
  if (error === undefined) return { "grpc-status": "0" };
  const message = error.message.slice(0, messageLengthMax);
  return {
    "grpc-status": String(codeNumbers[error.code]),
    "grpc-message": percentEncode(message),
    "grpc-status-details-bin": encodeStatus(error, message),
  };
}

// Sends as many violations of a long list as fit; the client sees the others once these are mended.
function encodeStatus(error: CallError, message: string): string {
  let details = errorDetails(error);
  for (;;) {
    const status = create(StatusSchema, {
      code: codeNumbers[error.code],
      message,
      details: details.map(toMessage).map(({ desc, value }) => anyPack(desc, value)),
    });
    const bytes = toBinary(StatusSchema, status);
    if (bytes.length <= statusBytesMax)
      return Buffer.from(bytes)
        .toString("base64")
        .replace(/={1,2}$/, "");
    if (details.every(({ type }) => type !== "google.rpc.BadRequest")) return "";
    details = details.flatMap(halve);
  }
}

function halve(detail: ErrorDetail): ErrorDetail[] {
  if (detail.type !== "google.rpc.BadRequest") return [detail];
  const kept = Math.floor(detail.fieldViolations.length / 2);
  return kept === 0 ? [] : [{ ...detail, fieldViolations: detail.fieldViolations.slice(0, kept) }];
}

function toMessage(detail: ErrorDetail): DetailMessage {
  switch (detail.type) {
    case "google.rpc.BadRequest": {
      const fieldViolations = detail.fieldViolations.map(({ field, description }) => ({
        field,
        description,
      }));
      return { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) };
    }
    case "google.rpc.ErrorInfo": {
      const { reason, domain, metadata } = detail;
      return {
        desc: ErrorInfoSchema,
        value: create(ErrorInfoSchema, { reason, domain, metadata: { ...metadata } }),
      };
    }
    case "google.rpc.PreconditionFailure": {
      const violations = detail.violations.map((violation) => ({ ...violation }));
      return { desc: PreconditionFailureSchema, value: create(PreconditionFailureSchema, { violations }) };
    }
    case "google.rpc.RetryInfo": {
      const retryDelay = { seconds: BigInt(detail.retryDelaySeconds) };
      return { desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) };
    }
  }
}

// Encodes bytes outside of printable ASCII and the percent sign, as gRPC requires of a status message.
function percentEncode(text: string): string {
  if (/^[ -$&-~]*$/.test(text)) return text;
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
