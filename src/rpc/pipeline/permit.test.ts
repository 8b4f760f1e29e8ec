import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { AccessService } from "../../../gen/signpost/testing/v1/access_pb.js";
import { ask, protocols } from "../../../test/support/ask.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { newId } from "../../lib/ids.ts";
import { everyScope } from "../../model/scope.ts";
import type { TokenClaims } from "../../model/token.ts";
import { methodAccess } from "../access.ts";
import { type Handlers, register } from "../handlers.ts";
import { grantOf } from "./credentials/grants.ts";
import { permit } from "./permit.ts";

const answer = async () => ({ text: "done" });
const handlers: Handlers<typeof AccessService> = {
  write: answer,
  read: answer,
  publish: answer,
  master: answer,
  guard: answer,
  sign: answer,
  signAny: answer,
  live: answer,
  own: answer,
};
const api = await startApi({ services: [register(AccessService, handlers)] });
const { write, read, publish, master, guard, sign, signAny, live, own } = AccessService.method;

function tokenOf(
  scope: string,
  keyType: TokenClaims["keyType"] = "SECRET",
  environment: TokenClaims["environment"] = "live",
): Promise<string> {
  const at = api.now();
  return api.signToken({
    tokenId: newId(at),
    workspaceId: newId(at),
    keyType,
    environment,
    scope,
    issuedAt: at,
  });
}

let full: string;
let chosen: string;
let publishable: string;
beforeAll(async () => {
  full = await tokenOf(everyScope);
  // Every scope, chosen one by one.
  chosen = await tokenOf([...grantOf(everyScope).scopes].join(" "));
  publishable = await tokenOf("", "PUBLISHABLE");
});

describe.each(protocols)("over %s", (protocol) => {
  const reasonOf = async (method: DescMethodUnary, token: string, request: JsonObject = {}) => {
    const { reason } = await ask(api, protocol, method, request, token);
    return reason;
  };

  test("a write scope includes the read scope of its resource, and no other one", async () => {
    expect(await reasonOf(read, await tokenOf("links:write"))).toBe("OK");
    expect(await reasonOf(write, await tokenOf("links:read"))).toBe("INSUFFICIENT_SCOPE");
    expect(await reasonOf(read, await tokenOf("workflows:write"))).toBe("INSUFFICIENT_SCOPE");
  });

  test("a scope that no longer exists grants nothing", async () => {
    expect(await reasonOf(read, await tokenOf("directories:write"))).toBe("INSUFFICIENT_SCOPE");
    expect(await reasonOf(read, await tokenOf("directories:write links:read"))).toBe("OK");
  });

  test("a publishable token may call the methods that allow it, and no others, whatever its claims say", async () => {
    expect(await reasonOf(publish, publishable)).toBe("OK");
    expect(await reasonOf(publish, await tokenOf("links:read"))).toBe("INSUFFICIENT_SCOPE");
    for (const token of [publishable, await tokenOf(everyScope, "PUBLISHABLE")]) {
      for (const method of [write, read, master, guard])
        expect(await reasonOf(method, token)).toBe("INSUFFICIENT_SCOPE");
    }
  });

  test("a method that needs full access refuses a token with chosen scopes, even with all of them", async () => {
    expect(await reasonOf(master, full)).toBe("OK");
    expect(await reasonOf(master, chosen)).toBe("FULL_ACCESS_REQUIRED");
    expect(await reasonOf(master, await tokenOf("links:read"))).toBe("INSUFFICIENT_SCOPE");
  });

  test("a field that needs full access is refused to other callers, and only when the request gives it", async () => {
    expect(await reasonOf(guard, chosen, { name: "Ada" })).toBe("OK");
    expect(await reasonOf(guard, full, { name: "Ada", email: "ada@example.com" })).toBe("OK");
    expect(await reasonOf(guard, chosen, { email: "", updateMask: "email" })).toBe("FULL_ACCESS_REQUIRED");
    expect(await reasonOf(guard, chosen, { name: "Ada", updateMask: "*" })).toBe("FULL_ACCESS_REQUIRED");
    const refused = await ask(api, protocol, guard, { email: "ada@example.com" }, chosen);
    expect(refused).toMatchObject({ reason: "FULL_ACCESS_REQUIRED" });
    expect(JSON.stringify(refused)).toContain("email: needs full access");
  });

  test("a method that is not for sandboxes refuses their tokens, whatever their scopes", async () => {
    for (const token of [await tokenOf(everyScope, "SECRET", "test"), await tokenOf("", "SECRET", "test")]) {
      expect(await reasonOf(live, token)).toBe("NOT_AVAILABLE_IN_SANDBOX");
      expect(await reasonOf(own, token)).toBe("LIVE_CREDENTIAL_REQUIRED");
    }
    expect(await reasonOf(write, await tokenOf(everyScope, "SECRET", "test"))).toBe("OK");
    for (const method of [live, own]) expect(await reasonOf(method, full)).toBe("OK");
  });

  test("a method for members refuses every token before it checks scopes", async () => {
    for (const token of [full, chosen, publishable, await tokenOf("media:read")]) {
      for (const method of [sign, signAny])
        expect(await reasonOf(method, token)).toBe("MEMBER_SESSION_REQUIRED");
    }
  });
});

describe("a member", () => {
  const viewer = { memberId: newId(new Date(0)), ...grantOf("links:read media:read") };
  const reasonFor = (
    method: DescMethodUnary,
    scopes: Pick<typeof viewer, "scopes" | "fullAccess"> = viewer,
  ) => {
    const caller = { ...viewer, ...scopes, workspaceId: "", tokenId: undefined, sandbox: false };
    const identity = { caller, credential: { kind: "SESSION", id: "" } } as const;
    try {
      permit(
        methodAccess(method),
        { identity, call: { resource: "API" } },
        { scopeRequired: (scope) => new Error(scope) as never },
      );
      return "OK";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };

  test("needs a role with the scope, except where every role holds it", () => {
    expect(reasonFor(sign)).toBe("links:write");
    expect(reasonFor(sign, grantOf("links:write"))).toBe("OK");
    expect(reasonFor(signAny)).toBe("OK");
  });

  test("has full access as an administrator", () => {
    expect(reasonFor(master, grantOf(everyScope))).toBe("OK");
    expect(reasonFor(master, grantOf("links:write"))).toContain("full access");
  });
});
