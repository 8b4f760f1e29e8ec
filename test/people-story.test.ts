import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, expect, test } from "vitest";
import { Member_Role } from "../gen/signpost/v1/member_pb.js";
import { MembersService } from "../gen/signpost/v1/members_service_pb.js";
import { SandboxesService } from "../gen/signpost/v1/sandboxes_service_pb.js";
import { startMailServer } from "./support/mail-server.ts";
import { startService } from "./support/start-service.ts";
import { openTestBrowser } from "./support/start-sign-in.ts";

const mails = await startMailServer();
const service = await startService({ env: { SMTP_URL: mails.url, SIGN_UP: "on" } });
afterAll(() => service.stop());

/** A person with an address, a browser and, once signed in, a session. */
function person(email: string) {
  const browser = openTestBrowser(service.port);
  let session = "";
  return {
    email,
    browser,
    /** Follows the link in a mail, and sets a password there. */
    async setPassword(subject: RegExp): Promise<void> {
      const { mail } = await mails.mailTo(email, subject);
      const link = new URL(/https?:\/\/\S+\?challenge=\S+/.exec(mail.text ?? "")?.[0] ?? "");
      await browser.open(link.pathname + link.search);
      const challenge = link.searchParams.get("challenge") ?? "";
      const done = await browser.submit(link.pathname, { challenge, password });
      expect(done.to).toBe("/auth/sign-in?done=password");
    },
    async signIn(): Promise<void> {
      const { text } = await browser.json("POST", "/auth/session", { email, password });
      session = JSON.parse(text).accessToken;
    },
    rest: (method: string, path: string, body?: object) => rest(session, method, path, body),
    grpc: (): Transport => grpcOf(session),
  };
}

const password = "correct horse battery";

async function rest(token: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? {} : JSON.parse(text) };
}

function grpcOf(token: string): Transport {
  return createGrpcTransport({
    baseUrl: service.baseUrl,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
}

test("a stranger signs up, invites a colleague and changes her role, fills a sandbox to its caps, and deletes all of it", async () => {
  const ada = person("ada@example.com");
  const form = await ada.browser.open("/auth/sign-up");
  expect(form.status).toBe(200);
  await ada.browser.submit("/auth/sign-up", { name: "Ada’s coffee house", email: ada.email });
  await ada.setPassword(/./);
  await ada.signIn();
  expect((await ada.rest("GET", "/v1/member")).json).toMatchObject({ email: ada.email, role: "ROLE_ADMIN" });
  expect((await ada.rest("GET", "/v1/workspace")).json).toMatchObject({ name: "Ada’s coffee house" });

  const invited = await ada.rest("POST", "/v1/members/invite", {
    email: "bea@example.com",
    firstName: "Bea",
  });
  expect(invited).toMatchObject({ status: 200, json: { role: "ROLE_VIEWER", firstName: "Bea" } });
  const bea = person("bea@example.com");
  await bea.setPassword(/./);
  await bea.signIn();
  const toMake = { destination: "https://example.com/menu" };
  expect((await bea.rest("GET", "/v1/links")).status).toBe(200);
  expect(await bea.rest("POST", "/v1/links", toMake)).toMatchObject({ status: 403 });

  const members = createClient(MembersService, ada.grpc());
  const { member } = await members.update({ id: invited.json.id, role: Member_Role.TECH });
  expect(member?.role).toBe(Member_Role.TECH);
  expect((await bea.rest("POST", "/v1/links", toMake)).status).toBe(200);
  expect((await bea.rest("POST", "/v1/members/invite", { email: "cy@example.com" })).status).toBe(403);

  const sandboxes = createClient(SandboxesService, ada.grpc());
  const { sandbox, accessToken = "" } = await sandboxes.create({ name: "Trial" });
  expect(accessToken).toMatch(/^svc_test_/);
  const bulk = (count: number) => ({ links: Array.from({ length: count }, () => toMake) });
  expect((await rest(accessToken, "POST", "/v1/links/bulk", bulk(50))).status).toBe(200);
  const over = await rest(accessToken, "POST", "/v1/links", toMake);
  expect(over.status).toBe(429);
  expect(JSON.stringify(over.json)).toContain("SANDBOX_CAP_REACHED");
  expect((await rest(accessToken, "GET", "/v1/links?pageSize=1")).json.totalCount).toBe("50");
  expect((await ada.rest("GET", "/v1/links")).json.totalCount).toBe("1");
  await sandboxes.delete({ id: sandbox?.id ?? "" });
  expect((await rest(accessToken, "GET", "/v1/links")).status).toBe(401);

  expect((await ada.rest("POST", `/v1/members/${invited.json.id}/revoke`)).status).toBe(200);
  expect((await bea.rest("GET", "/v1/links")).status).toBe(401);
  const last = await ada.rest("DELETE", `/v1/members/${member?.id}`);
  expect(last.status).toBe(200);
  expect((await ada.rest("DELETE", "/v1/workspace")).status).toBe(200);
  await mails.mailTo(ada.email, /delet/i);
  await expect.poll(async () => (await ada.rest("GET", "/v1/links")).status).toBe(401);
  const again = await ada.browser.json("POST", "/auth/session", { email: ada.email, password });
  expect(again.status).toBe(401);
}, 120_000);
