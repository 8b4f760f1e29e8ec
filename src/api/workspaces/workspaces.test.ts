import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "vitest";
import type { MemberRole } from "../../../gen/database.ts";
import { WorkspacesService } from "../../../gen/signpost/v1/workspaces_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { signInAs } from "../../../test/support/sign-in.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const { db } = api;
const { update, getWorkspace, getMyWorkspace, publicGetWorkspace, requestEnrollment } =
  WorkspacesService.method;
const { updateOriginInquiry, updateOriginPurpose } = WorkspacesService.method;
const both = ["rest", "grpc"] as const;

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

async function put(body: object, by = workspace) {
  return by.rest("PUT", "/v1/workspace", body);
}

async function read(by = workspace) {
  return (await by.rest("GET", "/v1/workspace")).json;
}

const faq = JSON.stringify([{ question: "Open on Sundays?", answer: "Yes" }]);
const everything = {
  name: "Ada’s coffee house",
  shortDescription: "Coffee",
  description: "Coffee and cake",
  website: "https://coffee.example/menu",
  tags: "coffee,cake",
  faq,
  digestFrequency: "DIGEST_FREQUENCY_WEEKLY",
  enforceMfa: true,
};

/** A slug that no other test uses. */
const newSlug = () => `s-${randomUUID()}`;

describe("a workspace", () => {
  test("is read whole by its caller, without what is kept for the operator", async () => {
    await workspace.rest("POST", "/v1/workspace/origin-inquiry", { originInquiry: "From a friend" });
    await workspace.rest("POST", "/v1/workspace/origin-purpose", { originPurpose: "Menus" });
    const mine = await read();
    expect(mine).toMatchObject({
      id: workspace.workspaceId,
      slug: "",
      timezone: "UTC",
      isSandbox: false,
      digestFrequency: "DIGEST_FREQUENCY_UNSPECIFIED",
      subscriptionType: "SUBSCRIPTION_TYPE_ENTERPRISE_PLAN",
    });
    expect(JSON.stringify(mine)).not.toMatch(/friend|Menus|origin|purge|deleted/);
    const { workspaceId: id } = workspace;
    expect((await workspace.rest("GET", `/v1/workspaces/${id}`)).json).toEqual(mine);
    for (const method of [getMyWorkspace, getWorkspace]) {
      const request = method === getWorkspace ? { id } : {};
      const { body } = await ask(api, "grpc", method, request, workspace.token);
      expect(body).toEqual({ workspace: mine });
    }
    const row = await db.selectFrom("workspaces").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    expect(row).toMatchObject({ origin_inquiry: "From a friend", origin_purpose: "Menus" });
    expect(row.updated_at.toISOString()).toBe(mine.updatedAt);
  });

  test("sees its sandboxes by their ids, but no sandbox sees its parent or a sister", async () => {
    const [sandbox, sister, foreign] = [
      await newSandbox(workspace),
      await newSandbox(workspace),
      await newSandbox(await api.newWorkspace()),
    ];
    const { json } = await workspace.rest("GET", `/v1/workspaces/${sandbox.workspaceId}`);
    expect(json).toMatchObject({ id: sandbox.workspaceId, isSandbox: true });
    for (const protocol of both) {
      const reason = async (id: string, by: TestWorkspace) =>
        (await ask(api, protocol, getWorkspace, { id }, by.token)).reason;
      expect(await reason(foreign.workspaceId, workspace)).toBe("NOT_FOUND");
      expect(await reason(workspace.workspaceId, sandbox)).toBe("NOT_FOUND");
      expect(await reason(sister.workspaceId, sandbox)).toBe("NOT_FOUND");
      expect(await reason(randomUUID(), workspace)).toBe("NOT_FOUND");
      expect(await reason("not-a-uuid", workspace)).toBe("INVALID_ID");
      expect(await reason("", workspace)).toBe(protocol === "rest" ? "NOT_FOUND" : "INVALID_ID");
    }
  });
});

async function newSandbox(parent: TestWorkspace): Promise<TestWorkspace> {
  const sandbox = await api.newWorkspace();
  await db
    .updateTable("workspaces")
    .set({ environment: "test", parent_workspace_id: parent.workspaceId })
    .where("id", "=", sandbox.workspaceId)
    .execute();
  return sandbox;
}

describe("an update", () => {
  test.each(both)("changes what it names and nothing else, over %s", async (protocol) => {
    const send = async (request: JsonObject, paths: readonly string[]) => {
      // REST makes the mask of the body's keys.
      const mask = protocol === "rest" ? {} : { updateMask: paths.join() };
      const answer = await ask(api, protocol, update, { ...request, ...mask }, workspace.token);
      expect(answer.reason, answer.message).toBe("OK");
    };
    const before = await read();
    const slug = newSlug();
    await send({ ...everything, slug }, [...Object.keys(everything), "slug"]);
    const all = await read();
    expect(all).toEqual({ ...before, ...everything, slug, updatedAt: all.updatedAt });
    expect(all.updatedAt).not.toBe(before.updatedAt);
    await send({ name: "Bakery" }, ["name"]);
    const named = await read();
    expect(named).toEqual({ ...all, name: "Bakery", updatedAt: named.updatedAt });
    const emptied = {
      shortDescription: "",
      description: "",
      website: "",
      tags: "",
      faq: "",
      enforceMfa: false,
    };
    await send(emptied, Object.keys(emptied));
    const bare = await read();
    expect(bare).toEqual({ ...named, ...emptied, updatedAt: bare.updatedAt });
  });

  test("with the same values, or without any, changes nothing", async () => {
    await put({ ...everything, slug: newSlug() });
    const before = await read();
    for (const body of [before, everything, {}, { name: null }, { slug: before.slug }]) {
      const { status, json } = await put(body);
      expect([status, json]).toEqual([200, before]);
    }
  });

  test.each(both)("cannot change or clear a slug once it is set, over %s", async (protocol) => {
    await put({ slug: newSlug() });
    const before = await read();
    for (const slug of [newSlug(), ""]) {
      const mask = protocol === "rest" ? {} : { updateMask: "slug,name" };
      const answer = await ask(api, protocol, update, { slug, name: "New", ...mask }, workspace.token);
      expect(answer.reason).toBe("SLUG_IMMUTABLE");
    }
    expect(await read()).toEqual(before);
  });

  test("of fifty workspaces that want one slug at once, one gets it", async () => {
    const slug = newSlug();
    const others = await Promise.all(Array.from({ length: 50 }, () => api.newWorkspace()));
    const answers = await Promise.all(
      others.map(({ token }, index) => ask(api, index % 2 ? "rest" : "grpc", update, { slug }, token)),
    );
    const count = (reason: string) => answers.filter((answer) => answer.reason === reason).length;
    expect([count("OK"), count("SLUG_TAKEN")]).toEqual([1, 49]);
    const holders = await db.selectFrom("workspaces").select("id").where("slug", "=", slug).execute();
    expect(holders).toHaveLength(1);
  });

  const host = `blocked-${randomUUID()}.example`;
  const bad: [string, string, JsonObject][] = [
    ["a slug with capitals", "INVALID_ARGUMENT", { slug: "Ada" }],
    ["a slug of two letters", "INVALID_ARGUMENT", { slug: "ab" }],
    ["an empty name", "INVALID_ARGUMENT", { name: " " }],
    ["21 tags", "INVALID_ARGUMENT", { tags: Array.from({ length: 21 }, (_, n) => `t${n}`).join() }],
    ["an empty tag", "INVALID_ARGUMENT", { tags: "a,,b" }],
    ["questions that are no JSON", "INVALID_ARGUMENT", { faq: "Open on Sundays?" }],
    ["a question without an answer", "INVALID_ARGUMENT", { faq: '[{"question":"Open?"}]' }],
    ["questions that are no list", "INVALID_ARGUMENT", { faq: "{}" }],
    ["a website that runs a script", "INVALID_DESTINATION", { website: "javascript:alert(1)" }],
    ["a website without a scheme", "INVALID_DESTINATION", { website: "coffee.example" }],
    ["a website that is an address to mail to", "INVALID_ARGUMENT", { website: "mailto:a@b.example" }],
    ["a website on the block list", "MALICIOUS_URL", { website: `https://shop.${host}/` }],
    ["an unknown frequency", "INVALID_ARGUMENT", { digestFrequency: 9 }],
  ];

  test.each(bad)("with %s is %s, names the field and writes nothing", async (_, reason, fault) => {
    const values = { host, reason: "phishing", created_at: api.now() };
    await db
      .insertInto("blocked_hosts")
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const before = await read();
    const [field = ""] = Object.keys(fault);
    for (const protocol of both) {
      const mask = protocol === "rest" ? {} : { updateMask: `shortDescription,${field}` };
      const request = { shortDescription: "New", ...fault, ...mask };
      const answer = await ask(api, protocol, update, request, workspace.token);
      expect(answer.reason).toBe(reason);
      expect(answer.message).toContain(field);
    }
    expect(await read()).toEqual(before);
  });

  test("tells of every bad field at once, and judges no field that its mask leaves out", async () => {
    const { json } = await put({ name: "", website: "nowhere", faq: "[", slug: "A" });
    const fields = ["name", "slug", "website", "faq"];
    for (const field of fields) expect(JSON.stringify(json.error)).toContain(`"${field}"`);
    const request = { name: "Masked", website: "nowhere", faq: "[", updateMask: "name" };
    expect((await ask(api, "grpc", update, request, workspace.token)).reason).toBe("OK");
    expect(await read()).toMatchObject({ name: "Masked", website: "", faq: "" });
  });
});

describe("by members", () => {
  test.each(both)("only administrators change whether codes are needed, over %s", async (protocol) => {
    const as = async (role: MemberRole) => (await signInAs(api, workspace, { role })).accessToken;
    const [admin, tech, viewer] = [await as("ADMIN"), await as("TECH"), await as("VIEWER")];
    const send = async (token: string, request: JsonObject) =>
      (await ask(api, protocol, update, request, token)).reason;
    const before = await read();
    expect(await send(tech, { enforceMfa: true, name: "Tech" })).toBe("INSUFFICIENT_ROLE");
    expect(await send(viewer, { name: "Viewer" })).toBe("INSUFFICIENT_SCOPE");
    expect(await read()).toEqual(before);
    expect(await send(admin, { enforceMfa: true })).toBe("OK");
    // A form sends all fields back, also those that are as they were.
    expect(await send(tech, { enforceMfa: true, name: "Tech" })).toBe("OK");
    expect(await send(viewer, { enforceMfa: true })).toBe("INSUFFICIENT_SCOPE");
    expect(await read()).toMatchObject({ name: "Tech", enforceMfa: true });
    const off = protocol === "rest" ? { enforceMfa: false } : { updateMask: "enforceMfa" };
    expect(await send(tech, off)).toBe("INSUFFICIENT_ROLE");
    expect(await send(await api.scopedToken(workspace.workspaceId, ["workspace:write"]), off)).toBe("OK");
    expect((await read()).enforceMfa).toBe(false);
  });
});

describe("texts for the operator", () => {
  test.each(both)(
    "are replaced and cleared, and refused when they are too long, over %s",
    async (protocol) => {
      const kept = () =>
        db
          .selectFrom("workspaces")
          .select(["origin_inquiry", "origin_purpose"])
          .where("id", "=", workspace.workspaceId)
          .executeTakeFirstOrThrow();
      const inquire = async (originInquiry: string) =>
        (await ask(api, protocol, updateOriginInquiry, { originInquiry }, workspace.token)).reason;
      const explain = async (originPurpose: string) =>
        (await ask(api, protocol, updateOriginPurpose, { originPurpose }, workspace.token)).reason;
      for (const text of ["One", "Two", ""]) {
        expect([await inquire(text), await explain(`${text}!`)]).toEqual(["OK", "OK"]);
        expect(await kept()).toEqual({ origin_inquiry: text, origin_purpose: `${text}!` });
      }
      for (const text of ["x".repeat(2_001), "bell \u0007", "nul \u0000"]) {
        expect([await inquire(text), await explain(text)]).toEqual(["INVALID_ARGUMENT", "INVALID_ARGUMENT"]);
      }
      expect(await kept()).toEqual({ origin_inquiry: "", origin_purpose: "!" });
    },
  );
});

describe("the public view", () => {
  test("shows published workspaces only, without ids, to everybody", async () => {
    const slug = newSlug();
    const view = async () => api.rest()("GET", `/v1/public/workspaces/${slug}`);
    expect((await view()).status).toBe(404);
    await put({ ...everything, slug });
    expect((await view()).status).toBe(404);
    await publish(workspace);
    const { status, json } = await view();
    const { digestFrequency: _, enforceMfa: __, ...shown } = everything;
    const { publishedAt } = await read();
    expect([status, json]).toEqual([200, { ...shown, slug, publishedAt }]);
    const grpc = await api.client(WorkspacesService).publicGetWorkspace({ slug });
    expect(grpc.publicWorkspace).toMatchObject({ name: everything.name, slug });
    await db
      .updateTable("workspaces")
      .set({ environment: "test" })
      .where("id", "=", workspace.workspaceId)
      .execute();
    expect((await view()).status).toBe(404);
  });

  test.each([newSlug(), "%20", "x".repeat(65), "a'or'1"])("of %j is refused", async (slug) => {
    const { status } = await api.rest()("GET", `/v1/public/workspaces/${slug}`);
    expect(status).toBe(slug.length > 64 || slug === "%20" ? 400 : 404);
    const over = await ask(api, "grpc", publicGetWorkspace, { slug: decodeURI(slug) }, workspace.token);
    expect(over.reason).toBe(status === 400 ? "INVALID_ARGUMENT" : "NOT_FOUND");
  });
});

async function publish({ workspaceId }: TestWorkspace): Promise<void> {
  const at = api.now();
  await db.updateTable("workspaces").set({ published_at: at }).where("id", "=", workspaceId).execute();
}

describe("asking to become public", () => {
  test.each(both)("needs name, slug and description, and says what is missing, over %s", async (protocol) => {
    const send = (by = workspace) => ask(api, protocol, requestEnrollment, { message: "Please" }, by.token);
    const bare = await send();
    expect(bare.reason).toBe("WORKSPACE_NOT_READY");
    expect(bare.message).toMatch(/a slug.*a description/);
    await put({ slug: newSlug() });
    const slugged = await send();
    expect(slugged.reason).toBe("WORKSPACE_NOT_READY");
    expect(slugged.message).not.toContain("slug");
    expect((await read()).enrollRequestedAt).toBeUndefined();
    await put({ description: "Coffee" });
    expect((await send()).reason).toBe("OK");
    const asked = await read();
    expect(asked.enrollRequestedAt).toEqual(expect.any(String));
    expect(asked.publishedAt).toBeUndefined();
    await put({ description: "" });
    expect((await send()).reason).toBe("OK");
    expect((await read()).enrollRequestedAt).toBe(asked.enrollRequestedAt);
  });

  test("is refused when the message is too long or no text, and nothing is written", async () => {
    await put({ slug: newSlug(), description: "Coffee" });
    for (const message of ["x".repeat(2_001), "\u0000", 7]) {
      const { status } = await workspace.rest("POST", "/v1/workspace/request-enrollment", { message });
      expect(status).toBe(400);
    }
    expect((await read()).enrollRequestedAt).toBeUndefined();
  });

  test("makes public at once where the service is on its owner's computer", async () => {
    const local = await startApi({ database: api.database, deps: { approvesEnrollment: true } });
    const own = await local.newWorkspace();
    const slug = newSlug();
    await own.rest("PUT", "/v1/workspace", { slug, description: "Coffee" });
    await own.rest("POST", "/v1/workspace/request-enrollment", {});
    expect((await local.rest()("GET", `/v1/public/workspaces/${slug}`)).status).toBe(200);
  });

  test("is not available in a sandbox", async () => {
    const token = await api.signToken({
      tokenId: randomUUID(),
      workspaceId: workspace.workspaceId,
      keyType: "SECRET",
      environment: "test",
      scope: "*",
      issuedAt: api.now(),
    });
    await put({ slug: newSlug(), description: "Coffee" });
    for (const protocol of both) {
      const answer = await ask(api, protocol, requestEnrollment, {}, token);
      expect(answer.reason).toBe("NOT_AVAILABLE_IN_SANDBOX");
    }
    expect((await read()).enrollRequestedAt).toBeUndefined();
  });
});
