import type { Db } from "../../src/db/open.ts";
import type { Context } from "../../src/rpc/handlers.ts";
import { recordWriters } from "../../src/rpc/records.ts";

/** What a handler gets of a call with a token of a workspace, for tests that watch its statements. */
export function callContext(db: Db, workspaceId: string): Context {
  return {
    caller: {
      workspaceId,
      memberId: undefined,
      tokenId: undefined,
      scopes: new Set(),
      fullAccess: false,
      sandbox: false,
    },
    db,
    requestId: "test",
    ruleTime: () => new Date(),
    address: "192.0.2.1",
    signal: new AbortController().signal,
    afterCommit: () => {},
    complete: (request) => request,
    ask: () => Promise.reject(new Error("nothing is asked here")),
    act: () => Promise.reject(new Error("nothing is done here")),
    tell: () => {},
    writeRecord: recordWriters.proto,
  };
}
