import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterAll } from "vitest";

export const projectId = "signpost-tests";

/** Making a pair takes a tenth of a second, so all servers of a file publish the same first one. */
const firstPair = generateKeyPair("RS256", { extractable: true });

/** Publishes keys as Firebase does, and signs identity tokens with them. */
export async function startIdentityServer() {
  const pairs = new Map<string, Awaited<typeof firstPair>>();
  const published: object[] = [];
  let asked = 0;
  let isAway = false;
  let body: string | undefined;
  let cacheControl: string | undefined = "public, max-age=3600, must-revalidate";

  const server = createServer((_req, res) => {
    asked += 1;
    if (isAway) return void res.writeHead(503).end();
    res.writeHead(200, {
      "content-type": "application/json",
      ...(cacheControl !== undefined && { "cache-control": cacheControl }),
    });
    res.end(body ?? JSON.stringify({ keys: published }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  async function addKey(kid: string, isPublished = true): Promise<void> {
    const pair = await (kid === "one" ? firstPair : generateKeyPair("RS256", { extractable: true }));
    pairs.set(kid, pair);
    if (isPublished) published.push({ ...(await exportJWK(pair.publicKey)), kid, alg: "RS256", use: "sig" });
  }
  await addKey("one");

  return {
    config: { projectId, keysUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys` },
    asked: () => asked,
    addKey,
    setAway: (away: boolean) => {
      isAway = away;
    },
    /** What is answered in place of the keys. */
    answer: (text: string | undefined) => {
      body = text;
    },
    keepFor: (header: string | undefined) => {
      cacheControl = header;
    },
    /** A token of somebody who signed in with Google, with changes. */
    async sign(
      at: Date,
      claims: JWTPayload & Readonly<Record<string, unknown>>,
      { kid = "one", typ = "JWT" }: { readonly kid?: string; readonly typ?: string } = {},
    ): Promise<string> {
      const seconds = Math.floor(at.getTime() / 1000);
      const pair = pairs.get(kid);
      if (pair === undefined) throw new Error(`there is no key ${kid}`);
      return new SignJWT({
        iss: `https://securetoken.google.com/${projectId}`,
        ...{ aud: projectId, sub: "person-1", iat: seconds, exp: seconds + 3600, auth_time: seconds },
        ...{ email_verified: true, firebase: { sign_in_provider: "google.com" } },
        ...claims,
      })
        .setProtectedHeader({ alg: "RS256", kid, typ })
        .sign(pair.privateKey);
    },
  };
}
