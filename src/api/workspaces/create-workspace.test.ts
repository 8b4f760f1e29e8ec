import { verify } from "@node-rs/argon2";
import { expect, test } from "vitest";
import { startApi } from "../../../test/support/start-api.ts";
import { createWorkspace } from "./create-workspace.ts";
import { hasNoWorkspace } from "./queries.ts";

const api = await startApi();
const { db, now, signToken } = api;

function create(email: string) {
  return createWorkspace({ db, now, signToken }, { name: "Bakery", email, password: "a long password" });
}

test("a workspace begins with a link setting, an admin and a secret token that works", async () => {
  const { workspaceId, memberId, tokenId, accessToken } = await create("jane@example.com");
  expect(await hasNoWorkspace(db)).toBe(false);
  const workspace = await db
    .selectFrom("workspaces")
    .innerJoin("link_settings", "link_settings.id", "workspaces.link_setting_id")
    .select(["workspaces.name", "environment", "subscription_type", "data_collection"])
    .where("workspaces.id", "=", workspaceId)
    .executeTakeFirst();
  expect(workspace).toEqual({
    name: "Bakery",
    environment: "live",
    subscription_type: "ENTERPRISE_PLAN",
    data_collection: "BASIC",
  });
  const { json } = await api.rest(accessToken)("GET", "/v1/workspace-tokens");
  expect(json.tokens).toMatchObject([{ id: tokenId, workspaceId, createdBy: memberId, name: "API token" }]);
});

test("the first member is an admin whose password is kept as an Argon2id hash", async () => {
  const { memberId } = await create(" Admin@Example.com ");
  const member = await db
    .selectFrom("members")
    .selectAll()
    .where("id", "=", memberId)
    .executeTakeFirstOrThrow();
  expect(member).toMatchObject({ role: "ADMIN", email: "admin@example.com" });
  expect(member.password_hash).toMatch(/^\$argon2id\$/);
  expect(await verify(member.password_hash ?? "", "a long password")).toBe(true);
});

test("an e-mail address has one account, and nothing is left of a second try", async () => {
  await create("twice@example.com");
  const count = () =>
    db
      .selectFrom("workspaces")
      .select((query) => query.fn.countAll().as("n"))
      .executeTakeFirst();
  const before = await count();
  await expect(create("TWICE@example.com")).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  expect(await count()).toEqual(before);
});
