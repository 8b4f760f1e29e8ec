import { fail } from "../../lib/errors.ts";

const headLength = 5;

/** Marks a frame of gRPC-Web that holds trailers instead of a message. */
export const trailersFlag = 0x80;

/** The length of the head before a message, in bytes. */
export const frameHeadLength = headLength;

/** One message of a gRPC call as the client sent it. */
export interface Frame {
  readonly compressed: boolean;
  readonly bytes: Uint8Array;
}

/** Puts gRPC's five bytes before a message. */
export function frameOf(message: Uint8Array, flag = 0): Buffer {
  const frame = Buffer.allocUnsafe(headLength + message.length);
  frame[0] = flag;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headLength);
  return frame;
}

/** Returns the only message of a unary call; throws `CallError` for any other body. */
export function unaryFrame(body: Buffer): Frame {
  if (body.length < headLength) throw malformed("the request holds no message");
  const flag = body[0];
  const length = body.readUInt32BE(1);
  if (flag !== 0 && flag !== 1) throw malformed("the message begins with an unknown flag");
  if (body.length < headLength + length) throw malformed("the message is shorter than its declared length");
  if (body.length > headLength + length) throw malformed("a unary call takes one message");
  return { compressed: flag === 1, bytes: body.subarray(headLength) };
}

const units: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Parses a `grpc-timeout` into milliseconds; throws `CallError` when its form is wrong. */
export function parseTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const unit = units[text.slice(-1)];
  if (unit === undefined || !/^\d{1,8}.$/.test(text)) throw malformed("grpc-timeout is malformed");
  return Number(text.slice(0, -1)) * unit;
}

function malformed(message: string) {
  return fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", message);
}
