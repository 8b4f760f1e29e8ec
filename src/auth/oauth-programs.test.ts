import { describe, expect, test } from "vitest";
import { tickingClock } from "../../test/support/clock.ts";
import { callback, fieldsOf, openProgram, requestPath, verifier } from "../../test/support/oauth-program.ts";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";
import { deleteIdleClients } from "../oauth/clients.ts";
import { deleteOldGrants } from "../oauth/grants.ts";

const clock = tickingClock();
const documents = new Map<string, string | undefined>();
const fetched: string[] = [];
const server = await startSignIn({
  clock,
  oauth: {
    async fetchDocument(address) {
      fetched.push(address);
      return documents.get(address);
    },
    metadata: { agent_auth: { skill: "http://api.test/auth.md" } },
    otherGrants: new Map([["urn:example:other", async () => Promise.reject(new Error("a bug"))]]),
  },
});
const second = await startSignIn({ clock, database: server.database });
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers });

async function signedIn() {
  const member = await server.newMember();
  const browser = openTestBrowser(server.port);
  await browser.signIn(member.email, memberPassword);
  return browser;
}

describe("what programs learn of the service", () => {
  test("the metadata stands below the issuer and where RFC 8414 puts it, and names only what there is", async () => {
    for (const path of [
      "/auth/.well-known/oauth-authorization-server",
      "/.well-known/oauth-authorization-server/auth",
    ]) {
      const answer = await get(path, { origin: "https://browser.example" });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
      const metadata = JSON.parse(await answer.text());
      expect(metadata).toMatchObject({
        issuer: server.authUrl,
        token_endpoint: `${server.authUrl}/oauth2/token`,
        code_challenge_methods_supported: ["S256"],
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token", "urn:example:other"],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        agent_auth: { skill: "http://api.test/auth.md" },
      });
      expect(metadata.scopes_supported).toContain("page_themes:write");
    }
  });

  test("a browser's program may ask the endpoints for programs, and no page for people", async () => {
    const asked = { origin: "https://browser.example", "access-control-request-method": "POST" };
    for (const name of ["token", "reg", "revoke"]) {
      const answer = await get(`/auth/oauth2/${name}`, asked, "OPTIONS");
      expect([answer.status, answer.headers.get("access-control-allow-methods")], name).toEqual([
        204,
        "POST",
      ]);
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
    for (const path of ["/auth/oauth2/auth", "/auth/sign-in"])
      expect((await get(path, asked)).headers.get("access-control-allow-origin")).toBeNull();
    expect((await get("/auth/oauth2/token")).status).toBe(405);
  });

  test("a bug is answered with the id under which the log has it, and with nothing about itself", async () => {
    const { status, headers, json } = await openProgram(server).post("token", {
      grant_type: "urn:example:other",
    });
    expect([status, json.error]).toEqual([500, "server_error"]);
    expect(JSON.stringify(json)).not.toContain("a bug");
    expect(server.log()).toContain(headers.get("x-request-id"));
  });
});

describe("registration", () => {
  test("a program is told what it is registered with, and a secret only if it wants one", async () => {
    const program = openProgram(server);
    const { status, json } = await program.register({
      client_name: "  A\nprogram ",
      redirect_uris: [callback, "http://localhost:1/cb", "cursor://callback"],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      logo_uri: "https://program.example/logo.png",
      software_id: "x",
    });
    expect(status).toBe(201);
    expect(json).toEqual({
      client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      client_id_issued_at: expect.any(Number),
      client_name: "A program",
      redirect_uris: [callback, "http://localhost:1/cb", "cursor://callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
    const secretive = await program.register({ redirect_uris: [callback] });
    expect(secretive.json).toMatchObject({ client_secret: expect.any(String), client_secret_expires_at: 0 });
    expect(secretive.json.client_name).toBe("program.example");
  });

  test("metadata that cannot be is refused with its field, and nothing is registered", async () => {
    const program = openProgram(server);
    const count = () => server.db.selectFrom("oauth_clients").select("id").execute();
    const before = (await count()).length;
    const uris = (redirect_uris: unknown) => ({ redirect_uris });
    const wrong = [
      ...[uris(undefined), uris([]), uris("x"), uris([5]), uris(Array(21).fill(callback))],
      ...[
        "javascript:alert(1)",
        "data:text/html,x",
        "http://program.example/",
        "/callback",
        "https://",
        "file:///x",
      ].map((uri) => uris([uri])),
      ...[
        "https://a@program.example/",
        "https://program.example/#x",
        "https://program.example/\n",
        "ws://x/",
      ].map((uri) => uris([uri])),
      uris([`https://program.example/${"x".repeat(1_024)}`]),
      { ...uris([callback]), client_name: 5 },
      { ...uris([callback]), client_name: "x".repeat(101) },
      { ...uris([callback]), token_endpoint_auth_method: "private_key_jwt" },
      { ...uris([callback]), response_types: ["token"] },
      { ...uris([callback]), grant_types: ["implicit"] },
      [],
      "text",
    ];
    for (const each of wrong) {
      const { status, json } = await program.register(each);
      expect([status, json.error], JSON.stringify(each).slice(0, 99)).toEqual([
        400,
        expect.stringMatching(/^invalid_/),
      ]);
    }
    expect((await program.register(uris(["x".repeat(17_000)]))).status).toBe(413);
    expect((await count()).length).toBe(before);
  });

  test("one network registers 20 programs in an hour, over all processes and all its addresses", async () => {
    const statuses = [];
    for (let made = 0; made < 22; made += 1) {
      const from = made % 2 === 0 ? server : second;
      const answer = await fetch(`http://127.0.0.1:${from.port}/auth/oauth2/reg`, {
        method: "POST",
        headers: { "x-forwarded-for": `2001:db8:1:2::${made}`, "content-type": "application/json" },
        body: JSON.stringify({ redirect_uris: [callback] }),
      });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(3_000);
    }
    expect(statuses).toEqual([...Array(20).fill(201), 429, 429]);
    expect((await openProgram(server).register()).status).toBe(201);
  });

  test("a program with a secret proves it in the way it registered to, and a public one sends none", async () => {
    const program = openProgram(server);
    const tokenOf = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
      const form = { grant_type: "authorization_code", code: "x", code_verifier: verifier, ...fields };
      const { status, json } = await program.post("token", form, { headers });
      return [status, json.error];
    };
    const basic = (id: string, secret: string) => ({
      authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
    });
    const withBasic = (await program.register({ redirect_uris: [callback] })).json;
    const { client_id, client_secret } = withBasic;
    // The proof is right, so that only the code is missing.
    expect(await tokenOf({}, basic(client_id, client_secret))).toEqual([400, "invalid_grant"]);
    expect(await tokenOf({}, basic(client_id, "wrong"))).toEqual([401, "invalid_client"]);
    expect(await tokenOf({ client_id, client_secret })).toEqual([401, "invalid_client"]);
    expect(await tokenOf({ client_id })).toEqual([401, "invalid_client"]);
    expect(await tokenOf({ client_id: "other" }, basic(client_id, client_secret))).toEqual([
      401,
      "invalid_client",
    ]);
    expect(await tokenOf({}, { authorization: "Bearer x" })).toEqual([401, "invalid_client"]);
    const posting = (
      await program.register({ redirect_uris: [callback], token_endpoint_auth_method: "client_secret_post" })
    ).json;
    expect(await tokenOf({ client_id: posting.client_id, client_secret: posting.client_secret })).toEqual([
      400,
      "invalid_grant",
    ]);
    expect(await tokenOf({ client_id: posting.client_id, client_secret })).toEqual([401, "invalid_client"]);
    const open = (await program.register()).json;
    expect(await tokenOf({ client_id: open.client_id })).toEqual([400, "invalid_grant"]);
    expect(await tokenOf({ client_id: open.client_id, client_secret: "x" })).toEqual([401, "invalid_client"]);
  });

  test("programs that nobody let in go after 7 days, and others once nobody has used them for 90", async () => {
    const [idle, used] = [
      (await openProgram(server).register()).json,
      (await openProgram(server).register()).json,
    ];
    const browser = await signedIn();
    const page = await browser.open(requestPath(used.client_id));
    clock.advance(1_000);
    await browser.submit("/auth/oauth2/auth", fieldsOf(page));
    const isThere = async ({ client_id }: { readonly client_id: string }) =>
      (await server.db.selectFrom("oauth_clients").select("id").where("id", "=", client_id).execute())
        .length === 1;
    const left = async () => {
      await deleteIdleClients(server.db, clock.now());
      return Promise.all([idle, used].map(isThere));
    };
    expect(await left()).toEqual([true, true]);
    clock.advance(7 * 86_400_000);
    expect(await left()).toEqual([false, true]);
    clock.advance(84 * 86_400_000);
    expect(await left()).toEqual([false, false]);
  });
});

describe("programs with a document of their own", () => {
  const address = "https://program.example/client.json";
  const described = (change: object = {}) =>
    JSON.stringify({ client_id: address, client_name: "Documented", redirect_uris: [callback], ...change });

  test("a member sees what the document says and who publishes it; it is fetched once for all, and never for strangers", async () => {
    documents.set(address, described());
    fetched.length = 0;
    expect((await openTestBrowser(server.port).open(requestPath(address))).to).toBe("/auth/sign-in");
    expect(fetched).toEqual([]);
    const browser = await signedIn();
    const page = await browser.open(requestPath(address));
    expect(page.text).toContain("It describes itself at program.example.");
    const sent = await browser.submit("/auth/oauth2/auth", fieldsOf(page));
    const code = new URL(sent.to ?? "").searchParams.get("code") ?? "";
    const { status, json } = await openProgram(server).post("token", {
      ...{ grant_type: "authorization_code", code, client_id: address, code_verifier: verifier },
    });
    expect([status, json.scope]).toEqual([200, "links:write webhooks:read"]);
    expect(fetched).toEqual([address]);
    clock.advance(3_600_000);
    await browser.open(requestPath(address));
    expect(fetched).toEqual([address, address]);
  });

  test("a document that is missing, too long, no JSON, another program's, or wants a secret is refused", async () => {
    const browser = await signedIn();
    const texts = [
      undefined,
      "no json",
      "[]",
      described({ client_id: `${address}/other` }),
      described({ redirect_uris: ["https://elsewhere.example/"] }),
      described({ redirect_uris: undefined }),
      described({ redirect_uris: ["javascript:alert(1)"] }),
      described({ token_endpoint_auth_method: "client_secret_post" }),
      described({ client_secret: "x" }),
    ];
    for (const [index, text] of texts.entries()) {
      const own = `${address}?${index}`;
      documents.set(own, text?.replace(`"client_id":"${address}"`, `"client_id":"${own}"`));
      const page = await browser.open(requestPath(own));
      expect([page.status, page.to, fieldsOf(page)], text ?? "").toEqual([400, undefined, {}]);
    }
  });

  test("an address that is none of a document is not fetched", async () => {
    const browser = await signedIn();
    fetched.length = 0;
    const wrong = [
      "https://program.example",
      "https://program.example/",
      "https://program.example/a/../b",
      "https://program.example/x#y",
      "https://a:b@program.example/x",
      "https://PROGRAM.example/x",
      `https://program.example/${"x".repeat(1_024)}`,
      "http://program.example/x",
    ];
    for (const each of wrong) expect((await browser.open(requestPath(each))).status, each).toBe(400);
    expect(fetched).toEqual([]);
  });

  test("the members of one network have 60 documents fetched in an hour", async () => {
    const browser = await signedIn();
    fetched.length = 0;
    const statuses = new Set<number>();
    for (let asked = 0; asked < 62; asked += 1)
      statuses.add((await browser.open(requestPath(`https://many.example/${asked}`))).status);
    expect([fetched.length, [...statuses]]).toEqual([60, [400, 429]]);
  });
});

test("grants whose code nobody exchanged go once they have ended", async () => {
  const { client_id } = (await openProgram(server).register()).json;
  const browser = await signedIn();
  await browser.submit("/auth/oauth2/auth", fieldsOf(await browser.open(requestPath(client_id))));
  const count = async () =>
    (await server.db.selectFrom("oauth_grants").select("id").where("client_id", "=", client_id).execute())
      .length;
  await deleteOldGrants(server.db, clock.now());
  expect(await count()).toBe(1);
  clock.advance(61_000);
  while ((await deleteOldGrants(server.db, clock.now())) > 0);
  expect(await count()).toBe(0);
});
