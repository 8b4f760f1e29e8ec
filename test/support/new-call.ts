import type { Call } from "../../src/rpc/call.ts";
import { recordWriters } from "../../src/rpc/records.ts";

export interface CallFacts extends Partial<Omit<Call, "authorization">> {
  readonly token?: string;
  readonly authorization?: string;
}

let calls = 0;

/** A call as a protocol's adapter hands it to the pipeline. */
export function newCall({ token, ...facts }: CallFacts = {}): Call {
  return {
    protocol: "rest",
    resource: "API",
    requestId: `call-${++calls}`,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    idempotencyKey: undefined,
    testClock: undefined,
    target: "POST /v1/workspace-tokens",
    clientAddress: "192.0.2.1",
    signal: new AbortController().signal,
    timeoutMs: undefined,
    writeRecord: recordWriters.proto,
    ...facts,
  };
}
