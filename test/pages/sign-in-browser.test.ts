import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import { afterAll, describe, expect, test } from "vitest";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { openProgram, requestPath } from "../support/oauth-program.ts";
import { memberPassword, startSignIn } from "../support/start-sign-in.ts";

describe.skipIf(!hasBrowser)("in a browser, the pages at which people sign in", async () => {
  const server = await startSignIn({ deps: { allowsSignUp: true } });
  const { authUrl } = server;
  const { origin } = new URL(authUrl);
  const visit = launchBrowser();

  test("work without scripts and by keyboard alone: sign in with a mailed code, sign out", async () => {
    const member = await server.newMember({ enforceMfa: true });
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(authUrl);
      await page.keyboard.press("Tab");
      await page.keyboard.type(member.email);
      await page.keyboard.press("Tab");
      await page.keyboard.type(memberPassword);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/auth/code");
      await page.keyboard.press("Tab");
      await page.keyboard.type("nonsense");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").waitFor();
      // The wrong field has the focus.
      await page.keyboard.type(await server.mailedCode(member));
      await page.keyboard.press("Enter");
      await page.waitForURL("**/auth/account");
      await expect.poll(() => page.getByText(member.email).count()).toBe(1);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/auth/sign-in?done=signed-out");
      expect(await page.getByRole("status").textContent()).toBe("You are signed out.");
    });
  });

  test("lead through an invitation, a confirmation and a forgotten password without scripts", async () => {
    const invited = await server.newMember({ isPending: true });
    const member = await server.newMember();
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(origin + (await server.linkPath(invited, "INVITATION")));
      await page.getByLabel("New password").fill("a long new password");
      await page.getByRole("button", { name: "Set the password" }).click();
      await page.waitForURL("**/auth/sign-in?done=password");
      await page.goto(origin + (await server.linkPath(member, "EMAIL_CONFIRMATION")));
      await page.getByRole("button").click();
      await page.waitForURL("**/auth/sign-in?done=confirmed");
      await page.getByRole("link", { name: "Forgotten your password?" }).click();
      await page.getByLabel("E-mail").fill(member.email);
      await page.getByRole("button", { name: "Send the link" }).click();
      await page.waitForURL("**/auth/sent");
      await page.goto(origin + (await server.linkPath(member, "PASSWORD_RESET")));
      await page.getByLabel("New password").fill("another long password");
      await page.getByRole("button").click();
      await page.waitForURL("**/auth/sign-in?done=password");
      await page.getByLabel("E-mail").fill(member.email);
      await page.getByLabel("Password").fill("another long password");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.waitForURL("**/auth/account");
    });
  });

  // A program on the member's device, which sends the browser on to a page of its own elsewhere.
  const program = createServer((req, res) => {
    const { port } = program.address() as AddressInfo; // it listens on a port, and not on a path
    if (req.url?.startsWith("/cb?"))
      res.writeHead(302, { location: `http://localhost:${port}/done${req.url.slice(3)}` }).end();
    else res.end("You may close this page.");
  });
  afterAll(() => program.close());

  test("let a program in without scripts, and lead to the program and on to where it sends its people", async () => {
    await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve));
    const { port } = program.address() as AddressInfo; // it listens on a port, and not on a path
    const redirect_uri = `http://127.0.0.1:${port}/cb`;
    const { json } = await openProgram(server).register({
      redirect_uris: [redirect_uri],
      client_name: "Shelf",
    });
    const member = await server.newMember();
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(origin + requestPath(json.client_id, { redirect_uri }));
      await page.getByLabel("E-mail").fill(member.email);
      await page.getByLabel("Password").fill(memberPassword);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { name: "Let Shelf in?" }).waitFor();
      await page.getByLabel("Read webhooks.").uncheck();
      await page.getByRole("button", { name: "Allow" }).click();
      await page.waitForURL("**/done?code=*");
      expect(new URL(page.url()).searchParams.get("iss")).toBe(authUrl);
    });
  });

  test.each([
    ["in the light", {}],
    ["in the dark", { colorScheme: "dark" }],
    ["in Arabic, from right to left", { locale: "ar" }],
  ] as const)(
    "are accessible and fit a phone %s",
    async (_, options) => {
      const member = await server.newMember();
      const invited = await server.newMember({ isPending: true });
      const problems = await visit(options, async (page, context) => {
        const found: string[] = [];
        page.on("console", (line) => {
          // Browsers report a status of 4xx as an error, too.
          if (!line.text().startsWith("Failed to load resource")) found.push(line.text());
        });
        const look = async () => {
          const report = await context.newCDPSession(page);
          await report.detach();
          found.push(
            ...(await page.evaluate<string[]>(`(async () => {
          ${axe.source};
          const { violations } = await axe.run();
          const wide = document.documentElement.scrollWidth > innerWidth ? ["wider than the screen"] : [];
          return [...violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join()), ...wide];
        })()`)),
          );
        };
        const paths = [
          "/auth/sign-in",
          "/auth/sign-in?done=password",
          "/auth/forgotten",
          "/auth/sent",
          "/auth/sign-up",
          "/auth/nothing",
          "/auth/reset",
          await server.linkPath(invited, "INVITATION"),
          await server.linkPath(member, "PASSWORD_RESET"),
          await server.linkPath(member, "EMAIL_CONFIRMATION"),
        ];
        for (const path of paths) {
          await page.goto(origin + path);
          await look();
        }
        await page.goto(authUrl);
        await page.locator("#email").fill(member.email);
        await page.locator("#password").fill("a wrong password");
        await page.locator("form.answers button").click();
        await page.getByRole("alert").first().waitFor();
        await look();
        await page.locator("#password").fill(memberPassword);
        await page.locator("form.answers button").click();
        await page.waitForURL("**/auth/account");
        await look();
        const { json } = await openProgram(server).register({
          ...{
            redirect_uris: ["https://program.example/callback"],
            client_name: "A shelf with a long name ".repeat(4),
          },
        });
        for (const change of [{}, { scope: "root" }, { redirect_uri: "https://elsewhere.example" }]) {
          await page.goto(origin + requestPath(json.client_id, change));
          await look();
        }
        const direction = await page.evaluate("getComputedStyle(document.documentElement).direction");
        if (direction !== ("locale" in options && options.locale === "ar" ? "rtl" : "ltr"))
          found.push(String(direction));
        return found;
      });
      expect(problems).toEqual([]);
    },
    120_000,
  );

  test("make a passkey, sign in with it, refuse it once it is removed, and ask no code for it", async () => {
    const member = await server.newMember({ enforceMfa: true });
    await visit({}, async (page, context) => {
      const cdp = await context.newCDPSession(page);
      await cdp.send("WebAuthn.enable");
      const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      await page.goto(authUrl);
      await page.getByLabel("E-mail").fill(member.email);
      await page.getByLabel("Password").fill(memberPassword);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.waitForURL("**/auth/code");
      await page.getByLabel("Code").fill(await server.mailedCode(member));
      await page.getByRole("button", { name: "Continue" }).click();
      await page.waitForURL("**/auth/account");
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("Added on").waitFor();
      const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
      expect(credentials).toHaveLength(1);
      // The authenticator has one of this member already.
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("alert").waitFor();
      let answered = "";
      page.on("request", (request) => {
        if (request.url().endsWith("/passkeys/sign-in")) answered = request.postData() ?? "";
      });
      for (let times = 0; times < 2; times += 1) {
        await page.getByRole("button", { name: "Sign out" }).click();
        await page.waitForURL("**/auth/sign-in?done=signed-out");
        await page.getByRole("button", { name: "Sign in with a passkey" }).click();
        await page.waitForURL("**/auth/account");
      }
      // The request of a program waits while its member signs in, with a passkey too.
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL("**/auth/sign-in?done=signed-out");
      const { json } = await openProgram(server).register();
      await page.route("https://program.example/**", (route) => route.fulfill({ body: "Back" }));
      await page.goto(origin + requestPath(json.client_id));
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.getByRole("heading", { name: "Let program.example in?" }).waitFor();
      await page.getByRole("button", { name: "Refuse" }).click();
      await page.waitForURL(/^https:\/\/program\.example\/.*error=access_denied/);
      await page.goto(`${authUrl}/account`);
      // The same answer of the authenticator again, in the same browser.
      const replay = `fetch("/auth/passkeys/sign-in", { method: "POST", body: ${JSON.stringify(answered)},
        headers: { "content-type": "application/json" } }).then(({ status }) => status)`;
      expect(await page.evaluate(replay)).toBe(401);
      await page.getByRole("button", { name: "Remove (1)" }).click();
      await page.getByText("You have no passkeys yet.").waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await page.getByText("That did not work. Please try again.").waitFor();
      expect(page.url()).toContain("/auth/sign-in");
    });
  });
});
