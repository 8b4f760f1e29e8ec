import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startService } from "./support/start-service.ts";
import { openTestBrowser } from "./support/start-sign-in.ts";

test("somebody signs up at a running service, follows the mailed link, and calls the API", async () => {
  const service = await startService({ env: { SIGN_UP: "on" } });
  try {
    const browser = openTestBrowser(service.port);
    await browser.open("/auth/sign-up");
    const asked = await browser.submit("/auth/sign-up", { name: "A new shop", email: "ada@example.com" });
    expect(asked.to).toBe("/auth/sent");
    const link = await mailedLink(join(service.dataDir, "mail"));
    expect(link.pathname).toBe("/auth/invitation");
    const opened = await browser.open(link.pathname + link.search);
    expect(opened.text).toContain("Join A new shop");
    const challenge = link.searchParams.get("challenge") ?? "";
    const accepted = await browser.submit("/auth/invitation", { challenge, password: "a password of hers" });
    expect(accepted.to).toBe("/auth/sign-in?done=password");
    expect((await browser.signIn("ada@example.com", "a password of hers")).to).toBe("/auth/account");
    const credentials = { email: "ada@example.com", password: "a password of hers" };
    const { accessToken, ...member } = JSON.parse(
      (await browser.json("POST", "/auth/session", credentials)).text,
    );
    const { workspaceId } = member;
    expect(member.emailVerifiedAt).toBeDefined();
    const headers = { authorization: `Bearer ${accessToken}` };
    // A session begins with the member as the API has it.
    expect(await (await fetch(`${service.baseUrl}/v1/member`, { headers })).json()).toEqual(member);
    const tokens = await fetch(`${service.baseUrl}/v1/workspace-tokens`, { headers });
    // Nobody was there to be told a token.
    expect(await tokens.json()).toMatchObject({ tokens: [] });
    const other = await fetch(`${service.baseUrl}/v1/workspaces/${service.credentials.workspaceId}`, {
      headers,
    });
    expect(other.status).not.toBe(200);
    expect(workspaceId).not.toBe(service.credentials.workspaceId);
    // The workspace that the first start made has a member too.
    const { email, password } = service.credentials;
    expect((await browser.json("POST", "/auth/session", { email, password })).status).toBe(200);
    expect(JSON.stringify(service.log())).not.toContain(accessToken);
    expect(JSON.stringify(service.log())).not.toContain(challenge);
  } finally {
    await service.stop();
  }
});

/** The link of the only mail in a folder, once it is there. */
async function mailedLink(folder: string): Promise<URL> {
  let text = "";
  await expect
    .poll(
      async () => {
        const [name] = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".eml"));
        text = name === undefined ? "" : await readFile(join(folder, name), "utf8");
        return text;
      },
      { timeout: 30_000 },
    )
    .toContain("challenge=");
  // Long lines of mails are folded (RFC 2045, 6.7).
  const whole = text.replaceAll(/=\r?\n/g, "").replaceAll("=3D", "=");
  return new URL(/https?:\/\/[^\s"<>]+challenge=[\w.-]+/.exec(whole)?.[0] ?? "");
}
