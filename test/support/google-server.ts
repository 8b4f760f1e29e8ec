import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { GoogleConfig } from "../../src/integrations/google-forms/google-config.ts";
import { listResponses, refuse, type StoredResponse, send } from "./google-responses.ts";

/** How the next request for a form or its responses fails. */
export type GoogleFailure =
  | "too many requests"
  | "rate limit exceeded"
  | "internal error"
  | "hangs up"
  | "nonsense";

export interface GoogleForm {
  /** The account that may read it. */
  readonly owner: string;
  readonly publishedId: string;
  readonly items: readonly object[];
  /** In no order, as Google's are. */
  readonly responses: StoredResponse[];
}

export interface GoogleServer {
  readonly config: GoogleConfig;
  readonly forms: Map<string, GoogleForm>;
  /** What was asked, as `GET /v1/forms/a/responses`, without queries. */
  readonly asked: string[];
  /** The filters of listings, in order. */
  readonly filters: string[];
  /** Visits the address of an authorization as the account's browser and allows what is asked, or only some scopes. */
  allow(
    address: string,
    account: string,
    scopes?: readonly string[],
  ): Promise<{ code: string; state: string }>;
  /** What an account has allowed, without a browser. Returns the refresh token. */
  grant(account: string): string;
  /** Ends the grant of an account, as the account's settings do. */
  endGrant(account: string): void;
  hasGrant(account: string): boolean;
  /** Ends all access tokens before their time. */
  endAccess(): void;
  failNext(...failures: GoogleFailure[]): void;
  /** Makes requests for tokens and revocations fail until it is called with false. */
  setAway(isAway: boolean): void;
  /** Called before a listing is answered, which waits for it. */
  onListing: (formId: string) => Promise<void>;
  close(): Promise<void>;
}

const clientId = "client.apps.example.com";
const clientSecret = "client secret";
/** Where browsers go back to in tests. */
export const googleReturnUrl = "http://api.test/docs/connected";

interface Code {
  readonly account: string;
  readonly challenge: string;
  readonly scope: string;
}

/**
 * Google, as far as forms need it: it refuses what Google refuses. Codes work once and with their verifier, access tokens
 * end, grants are revoked for the whole account, and listings have filters, pages and tokens of pages.
 */
export async function startGoogleServer(): Promise<GoogleServer> {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, string>();
  const accessTokens = new Map<string, string>();
  const failures: GoogleFailure[] = [];
  let isAway = false;
  const server = createServer((req, res) => void answer(req, res).catch(() => req.socket.destroy()));

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", "http://google.test");
    const form = new URLSearchParams((await buffer(req)).toString());
    google.asked.push(`${req.method} ${url.pathname}`);
    if (url.pathname === "/o/oauth2/v2/auth") authorize(url.searchParams, req, res);
    else if (isAway && req.method === "POST") refuse(res, 503, "UNAVAILABLE");
    else if (req.method === "POST" && url.pathname === "/token") giveTokens(form, res);
    else if (req.method === "POST" && url.pathname === "/revoke") revoke(form.get("token") ?? "", res);
    else await readForms(url, req, res);
  }

  function authorize(asked: URLSearchParams, req: IncomingMessage, res: ServerResponse): ServerResponse {
    const expected = {
      client_id: clientId,
      redirect_uri: googleReturnUrl,
      response_type: "code",
      access_type: "offline",
      prompt: "consent",
      code_challenge_method: "S256",
    };
    const wrong = Object.entries(expected).find(([name, value]) => asked.get(name) !== value);
    if (wrong !== undefined) return refuse(res, 400, `INVALID_REQUEST ${wrong[0]}`);
    const code = `4/${randomUUID()}`;
    const account = String(req.headers["x-account"]);
    const scope = String(req.headers["x-scopes"] ?? asked.get("scope"));
    codes.set(code, { account, challenge: asked.get("code_challenge") ?? "", scope });
    const back = new URL(googleReturnUrl);
    back.search = new URLSearchParams({ code, state: asked.get("state") ?? "", scope }).toString();
    return res.writeHead(302, { location: back.href }).end();
  }

  function giveTokens(asked: URLSearchParams, res: ServerResponse): ServerResponse {
    const isClient = asked.get("client_id") === clientId && asked.get("client_secret") === clientSecret;
    if (!isClient) return send(res, 401, { error: "invalid_client" });
    const access_token = `ya29.${randomUUID()}`;
    const given = { access_token, expires_in: 3599, token_type: "Bearer" };
    if (asked.get("grant_type") === "refresh_token") {
      const account = refreshTokens.get(asked.get("refresh_token") ?? "");
      if (account === undefined)
        return send(res, 400, {
          error: "invalid_grant",
          error_description: "Token has been expired or revoked.",
        });
      accessTokens.set(access_token, account);
      return send(res, 200, given);
    }
    const code = codes.get(asked.get("code") ?? "");
    codes.delete(asked.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(asked.get("code_verifier") ?? "")
      .digest("base64url");
    if (code === undefined || code.challenge !== challenge || asked.get("redirect_uri") !== googleReturnUrl)
      return send(res, 400, { error: "invalid_grant", error_description: "Bad Request" });
    const refresh_token = google.grant(code.account);
    accessTokens.set(access_token, code.account);
    const claims = { sub: `subject of ${code.account}`, email: code.account };
    const id_token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
    return send(res, 200, { ...given, refresh_token, scope: code.scope, id_token });
  }

  function revoke(token: string, res: ServerResponse): ServerResponse {
    const account = refreshTokens.get(token) ?? accessTokens.get(token);
    if (account === undefined) return send(res, 400, { error: "invalid_token" });
    google.endGrant(account);
    return send(res, 200, {});
  }

  async function readForms(url: URL, req: IncomingMessage, res: ServerResponse): Promise<unknown> {
    const account = accessTokens.get((req.headers.authorization ?? "").replace("Bearer ", ""));
    if (account === undefined) return refuse(res, 401, "UNAUTHENTICATED");
    const failure = failures.shift();
    if (failure !== undefined) return fail(failure, req, res);
    const [, id = "", list] = /^\/v1\/forms\/([^/]+)(\/responses)?$/.exec(url.pathname) ?? [];
    const form = google.forms.get(id);
    if (form === undefined) return refuse(res, 404, "NOT_FOUND");
    if (form.owner !== account) return refuse(res, 403, "PERMISSION_DENIED");
    if (list === undefined) {
      const responderUri = `https://docs.google.com/forms/d/e/${form.publishedId}/viewform`;
      return send(res, 200, { formId: id, items: form.items, responderUri });
    }
    google.filters.push(url.searchParams.get("filter") ?? "");
    await google.onListing(id);
    return listResponses(form.responses, url.searchParams, res);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is an AddressInfo
  const origin = `http://127.0.0.1:${port}`;
  const google: GoogleServer = {
    config: { clientId, clientSecret, accountsUrl: origin, oauthUrl: origin, formsUrl: origin },
    forms: new Map(),
    asked: [],
    filters: [],
    async allow(address, account, scopes) {
      const headers = { "x-account": account, ...(scopes && { "x-scopes": scopes.join(" ") }) };
      const { headers: answered } = await fetch(address, { headers, redirect: "manual" });
      const back = new URL(answered.get("location") ?? "").searchParams;
      return { code: back.get("code") ?? "", state: back.get("state") ?? "" };
    },
    grant(account) {
      const token = `1//${randomUUID()}`;
      refreshTokens.set(token, account);
      return token;
    },
    endGrant(account) {
      for (const tokens of [refreshTokens, accessTokens])
        for (const [token, owner] of tokens) if (owner === account) tokens.delete(token);
    },
    hasGrant: (account) => [...refreshTokens.values()].includes(account),
    endAccess: () => accessTokens.clear(),
    failNext: (...next) => void failures.push(...next),
    setAway: (away) => {
      isAway = away;
    },
    onListing: async () => {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return google;
}

function fail(failure: GoogleFailure, req: IncomingMessage, res: ServerResponse): void {
  if (failure === "hangs up") req.socket.destroy();
  else if (failure === "internal error") refuse(res, 500, "INTERNAL");
  else if (failure === "nonsense") res.writeHead(200, { "content-type": "text/html" }).end("<html>Sorry");
  else if (failure === "too many requests") {
    res.setHeader("retry-after", "300");
    refuse(res, 429, "RESOURCE_EXHAUSTED");
  } else refuse(res, 403, "PERMISSION_DENIED", [{ reason: "rateLimitExceeded", domain: "usageLimits" }]);
}
