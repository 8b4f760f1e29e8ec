import { expect, test } from "vitest";
import { deriveKey } from "../lib/keys.ts";
import { createOauthStates, stateLifeMs } from "./oauth-state.ts";

const made = new Date("2026-03-01T12:00:00.900Z");
const key = deriveKey("a master secret", "oauth-states");
const member = { workspaceId: "workspace a", memberId: "ada", tokenId: undefined };
const token = { workspaceId: "workspace a", memberId: undefined, tokenId: "ada" };

function statesAt(at: Date, ownKey: Uint8Array = key) {
  return createOauthStates(ownKey, () => at);
}

const later = (ms: number) => statesAt(new Date(made.getTime() + ms));

test.each([member, token])("a state is good for its owner %j until ten minutes are over", async (owner) => {
  const state = await statesAt(made).make("slack", owner);
  await later(0).check(state, "slack", owner);
  await later(stateLifeMs - 1).check(state, "slack", owner);
  await expect(later(stateLifeMs).check(state, "slack", owner)).rejects.toMatchObject({
    reason: "INVALID_STATE",
    message: "state: is older than 10 minutes; ask for a new authorization address and begin again",
  });
});

test("a state is good for nobody else and for no other integration", async () => {
  const state = await statesAt(made).make("slack", member);
  const refused = { code: "INVALID_ARGUMENT", reason: "INVALID_STATE" };
  for (const other of [
    token,
    { ...member, memberId: "grace" },
    { ...member, workspaceId: "workspace b" },
    { ...member, memberId: undefined },
  ])
    await expect(later(0).check(state, "slack", other)).rejects.toMatchObject(refused);
  await expect(later(0).check(state, "google-forms", member)).rejects.toMatchObject(refused);
});

test("a text that this key did not sign is no state", async () => {
  const state = await statesAt(made).make("slack", member);
  const elsewhere = await statesAt(made, deriveKey("another", "oauth-states")).make("slack", member);
  const [head = "", claims = "", signature = ""] = state.split(".");
  const forged = Buffer.from(Buffer.from(claims, "base64url").toString().replace("ada", "eve")).toString(
    "base64url",
  );
  for (const text of [
    elsewhere,
    `${head}.${forged}.${signature}`,
    `${state}=`,
    `${state} `,
    "",
    ".",
    "x".repeat(4096),
  ])
    await expect(later(0).check(text, "slack", { ...member, memberId: "eve" })).rejects.toMatchObject({
      reason: "INVALID_STATE",
    });
});
