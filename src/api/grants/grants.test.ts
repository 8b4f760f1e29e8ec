import { expect, test } from "vitest";
import { ApiScope } from "../../../gen/signpost/options/v1/access_pb.js";
import { GrantsService } from "../../../gen/signpost/v1/grants_service_pb.js";
import { tickingClock } from "../../../test/support/clock.ts";
import { granted } from "../../../test/support/grants.ts";
import { signInAs } from "../../../test/support/sign-in.ts";
import { startApi } from "../../../test/support/start-api.ts";

const clock = tickingClock();
const api = await startApi({ clock });
const other = await startApi({ clock, database: api.database });
const workspace = await api.newWorkspace();
const scopes = ["links:write", "webhooks:read"];

test("a member of any role lists its own grants, newest first, over REST and gRPC", async () => {
  const [member, colleague] = [
    await signInAs(api, workspace, { role: "VIEWER" }),
    await signInAs(api, workspace),
  ];
  const first = await granted(api, { ...member, scopes });
  clock.advance(1_000);
  const second = await granted(api, { ...member, scopes: ["links:read"] });
  await granted(api, { ...colleague, scopes });
  const { status, json } = await member.rest("GET", "/v1/grants");
  expect(status).toBe(200);
  expect(json.grants.map(({ id }: { readonly id: string }) => id)).toEqual([second.grantId, first.grantId]);
  expect(json.grants[1]).toEqual({
    id: first.grantId,
    clientId: "a-client",
    clientName: "A client",
    scopes: ["API_SCOPE_LINKS_WRITE", "API_SCOPE_WEBHOOKS_READ"],
    createdAt: expect.any(String),
    lastTokenAt: expect.any(String),
  });
  const { grants } = await member.client(GrantsService).list({});
  expect(grants[1]).toMatchObject({
    id: first.grantId,
    scopes: [ApiScope.LINKS_WRITE, ApiScope.WEBHOOKS_READ],
  });
});

test.each(["REST", "gRPC"])(
  "a member ends a grant over %s, and its tokens end in every process within 5 s",
  async (protocol) => {
    const member = await signInAs(api, workspace);
    const { grantId, accessToken } = await granted(api, { ...member, scopes });
    expect((await other.rest(accessToken)("GET", "/v1/links")).status).toBe(200);
    if (protocol === "REST") expect((await member.rest("DELETE", `/v1/grants/${grantId}`)).status).toBe(200);
    else await member.client(GrantsService).revoke({ id: grantId });
    expect((await api.rest(accessToken)("GET", "/v1/links")).status).toBe(401);
    clock.advance(5_001);
    expect((await other.rest(accessToken)("GET", "/v1/links")).status).toBe(401);
    expect((await member.rest("GET", "/v1/grants")).json.grants).toEqual([]);
    expect((await member.rest("DELETE", `/v1/grants/${grantId}`)).status).toBe(404);
  },
);

test("nobody ends the grant of another member, of another workspace, or one that is not there", async () => {
  const [member, admin] = [await signInAs(api, workspace), await signInAs(api, workspace)];
  const stranger = await signInAs(api, await api.newWorkspace());
  const { grantId, accessToken } = await granted(api, { ...member, scopes });
  const missing = "01900000-0000-7000-8000-000000000000";
  const answers = await Promise.all([
    admin.rest("DELETE", `/v1/grants/${grantId}`),
    stranger.rest("DELETE", `/v1/grants/${grantId}`),
    member.rest("DELETE", `/v1/grants/${missing}`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  await expect(admin.client(GrantsService).revoke({ id: grantId })).rejects.toMatchObject({ code: 5 });
  expect((await api.rest(accessToken)("GET", "/v1/links")).status).toBe(200);
});

test("wrong ids are refused with their field, and tokens and grants are no members", async () => {
  const member = await signInAs(api, workspace);
  const { accessToken } = await granted(api, { ...member, scopes: ["members:write"] });
  for (const id of ["x", "5", "00000000-0000-0000-0000-00000000000g"]) {
    const { status, json } = await member.rest("DELETE", `/v1/grants/${id}`);
    expect([status, JSON.stringify(json.error).includes('"id"')], id).toEqual([400, true]);
  }
  for (const token of [workspace.token, accessToken])
    for (const [method, path] of [
      ["GET", "/v1/grants"],
      ["DELETE", "/v1/grants/01900000-0000-7000-8000-000000000000"],
    ] as const)
      expect((await api.rest(token)(method, path)).text).toContain("MEMBER_SESSION_REQUIRED");
  await expect(api.client(GrantsService, accessToken).list({})).rejects.toMatchObject({ code: 7 });
});
