import { afterAll, describe, expect, test } from "vitest";
import { hasBrowser, launchBrowser } from "./support/browser.ts";
import { readWithZxing } from "./support/qr-readers.ts";
import { startService } from "./support/start-service.ts";

const service = await startService();
afterAll(() => service.stop());

/** What a program without any library gets. The body is sent as JSON, or as a form. */
async function ask(
  url: string,
  { token, json, form }: { token?: string; json?: object; form?: Record<string, string> } = {},
) {
  const body = json === undefined ? form && new URLSearchParams(form) : JSON.stringify(json);
  const answer = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json, text/event-stream",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: text.startsWith("{") ? JSON.parse(text) : {},
  };
}

/** Follows what the service says of itself, from a call without a token on. */
async function discover(baseUrl: string) {
  const refused = await ask(`${baseUrl}/v1/links`);
  expect(refused.status).toBe(401);
  const [, resourceUrl = ""] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
  const resource = (await ask(resourceUrl)).json;
  const { json: server } = await ask(
    `${resource.authorization_servers[0]}/.well-known/oauth-authorization-server`,
  );
  const skill = await ask(server.agent_auth.skill);
  expect(skill.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(skill.text).toContain(`POST ${server.agent_auth.identity_endpoint}\n`);
  // The same text stands on the host of the authorization server.
  expect((await ask(`${resource.authorization_servers[0]}/auth.md`)).text).toBe(skill.text);
  return { tokenUrl: server.token_endpoint, identityUrl: server.agent_auth.identity_endpoint };
}

describe.skipIf(!hasBrowser)("with a person in a browser", () => {
  const visitPages = launchBrowser();

  test("an agent that knows the address alone registers, makes a link, is claimed by a person in a browser, and goes on with wider scopes", async () => {
    const { baseUrl } = service;
    const { tokenUrl, identityUrl } = await discover(baseUrl);
    const email = "ada@example.com";
    const registration = { type: "service_auth", login_hint: email, client_name: "Clark" };
    const registered = await ask(identityUrl, { json: registration });
    expect(registered.status).toBe(200);
    const { access_token: first, claim_token, claim, registration_id: client_id } = registered.json;

    const order = { destination: "https://example.com/menu" };
    const made = await ask(`${baseUrl}/v1/links`, { token: first, json: order });
    expect(made.status).toBe(200);
    const { id, entrypoint } = made.json.link;
    const pictures = { token: first, json: { linkIds: [id] } };
    const pictureUrl = async () =>
      (await ask(`${baseUrl}/v1/links/qrcode-images:resolve`, pictures)).json.qrcodeSignedUrls[id] ?? "";
    await expect.poll(pictureUrl).toMatch(/^http/);
    const picture = new Uint8Array(await (await fetch(await pictureUrl())).arrayBuffer());
    const [content = ""] = await readWithZxing(picture);
    expect(content).toContain(entrypoint);
    const scanned = await fetch(content, { redirect: "manual" });
    expect(scanned.headers.get("location")).toContain("https://example.com/menu");
    expect((await ask(`${baseUrl}/v1/workspace`, { token: first })).json.error.codeType).toBe(
      "INSUFFICIENT_SCOPE",
    );

    const poll = { grant_type: "urn:workos:agent-auth:grant-type:claim", claim_token };
    expect((await ask(tokenUrl, { form: poll })).json.error).toBe("authorization_pending");

    await visitPages({ javaScriptEnabled: false }, async (page) => {
      await page.goto(claim.verification_uri);
      expect(await page.textContent("main")).toContain("Clark");
      expect(await page.textContent("main")).toContain(email);
      await page.fill("#code", claim.user_code);
      await page.fill("#password", "correct horse battery");
      await page.click("button.button");
      await page.waitForURL(/\/account$/);
      expect(await page.textContent("main")).toContain(email);

      const granted = await ask(tokenUrl, { form: poll });
      expect(granted.status).toBe(200);
      const { access_token: wider, refresh_token } = granted.json;
      expect((await ask(`${baseUrl}/v1/workspace`, { token: wider })).json.verifiedAt).toMatch(/Z$/);
      const links = await ask(`${baseUrl}/v1/links`, { token: wider });
      expect(links.json.links.map((link: { id: string }) => link.id)).toEqual([id]);

      const form = { grant_type: "refresh_token", client_id, refresh_token, resource: `${baseUrl}/mcp` };
      const { json: ofTools } = await ask(tokenUrl, { form });
      const call = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "links_list", arguments: {} },
      };
      const called = await ask(`${baseUrl}/mcp`, { token: ofTools.access_token, json: call });
      expect(called.json.result.structuredContent.links[0].id).toBe(id);

      // The person sees the agent among the programs, and ends its access.
      await page.goto(page.url());
      expect(await page.textContent("main")).toContain("Clark");
      await page.locator("form[action$='/end-access'] button").click();
      await page.waitForURL(/\/auth\//);
      for (const token of [first, wider])
        await expect.poll(async () => (await ask(`${baseUrl}/v1/links`, { token })).status).toBe(401);
    });
  });
});
