import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { WorkspaceTokensService } from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { type Answer, ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { apiScopes } from "../../rpc/access.ts";

const api = await startApi();
const secondProcess = await startApi({ database: api.database, clock: api.clock });
const { create, update } = WorkspaceTokensService.method;

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

interface Token {
  readonly id: string;
  readonly scopes: string[];
  readonly fullAccess: boolean;
  readonly updatedAt: string;
}

interface Made {
  readonly accessToken: string;
  readonly token: Token;
}

/** Makes a token with these scopes over REST. Without scopes it has full access. */
async function make(scopes: readonly string[] = [], by = workspace.token, keyType = "SECRET"): Promise<Made> {
  const body = { keyType: `WORKSPACE_TOKEN_KEY_TYPE_${keyType}`, scopes: scopes.map(enumOf) };
  const { status, json } = await api.rest(by)("POST", "/v1/workspace-tokens", body);
  expect(status).toBe(200);
  return json;
}

/** The enum's name of a scope that tokens tell as `links:read`: API_SCOPE_LINKS_READ. */
function enumOf(name: string): string {
  return `API_SCOPE_${name.replace(":", "_").toUpperCase()}`;
}

async function patch(id: string, body: JsonObject, by = workspace.token) {
  return api.rest(by)("PATCH", `/v1/workspace-tokens/${id}`, body);
}

function tokenIn({ body }: Answer): Token {
  return (body as { token: Token }).token;
}

test("a token without scopes has full access, and tells every scope there is", async () => {
  const { token } = await make();
  expect(token.fullAccess).toBe(true);
  expect(new Set(token.scopes)).toEqual(new Set([...apiScopes].map(enumOf)));
  const { json } = await workspace.rest("GET", `/v1/workspace-tokens/${token.id}`);
  expect(json.token).toEqual(token);
});

test("a token with scopes may do that and no more, in every answer that tells of it", async () => {
  const { token, accessToken } = await make(["workflows:read", "links:write", "links:write"]);
  expect(token).toMatchObject({ fullAccess: false });
  expect(token.scopes).toEqual(["API_SCOPE_LINKS_WRITE", "API_SCOPE_WORKFLOWS_READ"]);
  const { json } = await workspace.rest("GET", "/v1/workspace-tokens");
  expect(json.tokens[0]).toEqual(token);
  const rest = api.rest(accessToken);
  expect((await rest("GET", "/v1/links")).status).toBe(200);
  expect((await rest("GET", "/v1/media")).json.error.codeType).toBe("INSUFFICIENT_SCOPE");
});

test("a publishable token has no scopes, and cannot be given any", async () => {
  const { token } = await make([], workspace.token, "PUBLISHABLE");
  expect(token).toMatchObject({ scopes: [], fullAccess: false });
  const grants: [JsonObject, string][] = [
    [{ scopes: ["API_SCOPE_LINKS_READ"] }, "scopes"],
    [{ fullAccess: true }, "fullAccess"],
  ];
  for (const [body, field] of grants) {
    const { status, json } = await patch(token.id, body);
    expect([status, json.error.details[1].fieldViolations[0].field]).toEqual([400, field]);
  }
  expect((await patch(token.id, { name: "Shop", fullAccess: false })).json.token.name).toBe("Shop");
  const keyType = "WORKSPACE_TOKEN_KEY_TYPE_PUBLISHABLE";
  const refused = await workspace.rest("POST", "/v1/workspace-tokens", {
    keyType,
    scopes: ["API_SCOPE_VISITORS_WRITE"],
  });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("a publishable token takes no `scopes`");
});

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  const asks = (method: typeof create | typeof update, request: JsonObject, by: string) =>
    ask(api, protocol, method, request, by);

  test("nobody grants a scope, or full access, without holding it", async () => {
    const clerk = (await make(["tokens:write", "links:write", "media:read"])).accessToken;
    const keyType = "WORKSPACE_TOKEN_KEY_TYPE_SECRET";
    const held = await asks(
      create,
      { keyType, scopes: ["API_SCOPE_LINKS_READ", "API_SCOPE_TOKENS_READ"] },
      clerk,
    );
    expect(held.reason).toBe("OK");
    const { id } = tokenIn(held);
    const everything = [...apiScopes].map(enumOf);
    for (const scopes of [
      ["API_SCOPE_MEDIA_WRITE"],
      ["API_SCOPE_LINKS_READ", "API_SCOPE_BILLING_WRITE"],
      everything,
    ])
      for (const [method, request] of [
        [create, { keyType, scopes }],
        [update, { id, scopes }],
      ] as const)
        expect((await asks(method, request, clerk)).reason).toBe("SCOPE_NOT_HELD");
    expect((await asks(create, { keyType }, clerk)).reason).toBe("SCOPE_NOT_HELD");
    expect((await asks(update, { id, fullAccess: true }, clerk)).reason).toBe("SCOPE_NOT_HELD");
    // Not even a holder of every scope may grant full access, because it includes later scopes.
    const chosen = (await make([...apiScopes])).accessToken;
    expect((await asks(create, { keyType }, chosen)).reason).toBe("SCOPE_NOT_HELD");
    expect((await asks(create, { keyType, scopes: everything }, chosen)).reason).toBe("OK");
    expect((await asks(update, { id, fullAccess: true }, workspace.token)).reason).toBe("OK");
  });

  test("a change that cannot be is refused", async () => {
    const { id } = (await make(["links:read"])).token;
    for (const request of [
      { fullAccess: true, scopes: ["API_SCOPE_LINKS_READ"] },
      { scopes: [], updateMask: "scopes" },
      { scopes: ["API_SCOPE_UNSPECIFIED"] },
      { scopes: ["API_SCOPE_LINKS_READ", "API_SCOPE_UNSPECIFIED"] },
    ]) {
      const { reason } = await asks(update, { id, ...request }, workspace.token);
      expect(reason, JSON.stringify(request)).toBe("INVALID_ARGUMENT");
    }
  });

  test("scopes and full access can be changed, and what is the same already changes nothing", async () => {
    const { token, accessToken } = await make(["links:read"]);
    const { id } = token;
    const asked = (request: JsonObject) => asks(update, { id, ...request }, workspace.token);
    const full = tokenIn(await asked({ fullAccess: true }));
    expect(full).toMatchObject({
      fullAccess: true,
      scopes: expect.arrayContaining([enumOf("tokens:write")]),
    });
    for (const request of [{ fullAccess: true }, { fullAccess: false, updateMask: "fullAccess" }])
      expect(tokenIn(await asked(request))).toEqual(full);
    const narrow = tokenIn(await asked({ scopes: ["API_SCOPE_MEDIA_READ"], name: "Pictures" }));
    expect(narrow).toMatchObject({ fullAccess: false, scopes: ["API_SCOPE_MEDIA_READ"], name: "Pictures" });
    expect(narrow.updatedAt > full.updatedAt).toBe(true);
    expect(tokenIn(await asked({ scopes: ["API_SCOPE_MEDIA_READ"] }))).toEqual(narrow);
    expect((await api.rest(accessToken)("GET", "/v1/links")).status).toBe(403);
    expect((await api.rest(accessToken)("GET", "/v1/media")).status).toBe(200);
  });
});

test("a change counts at once in its process and soon in every other, also for tokens known there", async () => {
  const { token, accessToken } = await make(["links:read"]);
  const [here, there] = [api.rest(accessToken), secondProcess.rest(accessToken)];
  const until = async (status: number, path: string) => {
    while ((await there("GET", path)).status !== status) await pause(5);
  };
  expect((await there("GET", "/v1/links")).status).toBe(200);
  await patch(token.id, { scopes: ["API_SCOPE_MEDIA_READ"] });
  expect((await here("GET", "/v1/links")).status).toBe(403);
  await until(403, "/v1/links");
  expect((await there("GET", "/v1/media")).status).toBe(200);
  await patch(token.id, { fullAccess: true });
  expect((await here("GET", "/v1/workspace-tokens")).status).toBe(200);
  await until(200, "/v1/workspace-tokens");
});

test("a process that starts later knows the changed scopes", async () => {
  const { token, accessToken } = await make();
  await patch(token.id, { scopes: ["API_SCOPE_MEDIA_READ"] });
  const late = await startApi({ database: api.database, clock: api.clock });
  expect((await late.rest(accessToken)("GET", "/v1/links")).status).toBe(403);
  const { links } = { links: late.client(LinksService, accessToken) };
  await expect(links.list({})).rejects.toThrow("the token lacks the scope links:read");
});

test("a token that gave up a scope cannot give it back to itself", async () => {
  const { token, accessToken } = await make(["tokens:write", "links:write"]);
  const own = api.rest(accessToken);
  const path = `/v1/workspace-tokens/${token.id}`;
  expect((await own("PATCH", path, { scopes: ["API_SCOPE_TOKENS_WRITE"] })).status).toBe(200);
  const back = await own("PATCH", path, { scopes: ["API_SCOPE_TOKENS_WRITE", "API_SCOPE_LINKS_WRITE"] });
  expect([back.status, back.json.error.codeType]).toEqual([403, "SCOPE_NOT_HELD"]);
  expect(back.json.error.details[0].metadata).toMatchObject({ scope: "links:write" });
});

test("a revoked token leaves no changed scopes behind", async () => {
  const { token } = await make();
  await patch(token.id, { scopes: ["API_SCOPE_MEDIA_READ"] });
  const kept = () =>
    api.db.selectFrom("changed_scopes").select("scope").where("token_id", "=", token.id).execute();
  expect(await kept()).toEqual([{ scope: "media:read" }]);
  await workspace.rest("DELETE", `/v1/workspace-tokens/${token.id}`);
  expect(await kept()).toEqual([]);
});

test("scopes that were changed under a key that is rolled back do not count", async () => {
  const { token, accessToken } = await make(["links:read"]);
  const key = { "idempotency-key": "once" };
  const path = `/v1/workspace-tokens/${token.id}`;
  // The record of the idempotency key cannot be written, so the call fails after its handler.
  await api.database.pool.query("alter table idempotency_keys add constraint never check (key <> 'once')");
  const failed = await workspace.rest("PATCH", path, { scopes: ["API_SCOPE_MEDIA_READ"] }, key);
  await api.database.pool.query("alter table idempotency_keys drop constraint never");
  expect(failed.status).toBe(500);
  expect((await api.rest(accessToken)("GET", "/v1/links")).status).toBe(200);
  expect((await workspace.rest("PATCH", path, { scopes: ["API_SCOPE_MEDIA_READ"] }, key)).status).toBe(200);
  expect((await api.rest(accessToken)("GET", "/v1/links")).status).toBe(403);
});
