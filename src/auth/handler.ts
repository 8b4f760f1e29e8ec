import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { describeFailure } from "../db/describe-failure.ts";
import type { CallError } from "../lib/errors.ts";
import { discardBody, dropMax } from "../lib/limits/request-body.ts";
import type { HostedPage } from "../pages/page.ts";
import { accountPage, signOut } from "./account.ts";
import { agentClaimPage, attemptField } from "./agent-claim.ts";
import { forgottenPage, sentPage, signUpPage } from "./asked-mails.ts";
import { consentPage } from "./consent.ts";
import { createCookies } from "./cookies.ts";
import type { AuthDeps } from "./deps.ts";
import { createFormTokens, type FormTokens } from "./form-token.ts";
import { confirmPage, invitationPage, resetPage } from "./mail-links.ts";
import { createOauthAnswerer, oauthEndpoints, wellKnownName } from "./oauth-endpoints.ts";
import { isOwnPost } from "./own-post.ts";
import { noticePage } from "./pages/notice.ts";
import { removePasskeyPage } from "./passkeys.ts";
import { endAccessPage } from "./programs.ts";
import { readBody } from "./read-body.ts";
import { scriptHandler } from "./script-handler.ts";
import { sessionHandler } from "./session-json.ts";
import { codePage, signInPage, tooMany } from "./sign-in.ts";
import type { Fields, PageActions, Reply, Visit } from "./visit.ts";
import { languageOf, wordsOf } from "./words/languages.ts";
import type { NoticeKind } from "./words/words.ts";

type AuthHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/**
 * Answers everything below `authUrl`: the pages at which people sign in and consent, `/session` and the endpoints of OAuth for
 * programs.
 */
export function authHandler(deps: AuthDeps): AuthHandler {
  const { protocol, pathname } = new URL(deps.authUrl);
  const base = pathname.replace(/\/$/, "");
  const cookies = createCookies(protocol === "https:");
  const tokens = createFormTokens(deps.formKey);
  const pages = pagesOf(deps);
  const answerSession = sessionHandler(deps);
  const answerOauth = createOauthAnswerer(deps);
  // The place of metadata whose issuer has a path (RFC 8414, 3.1). Some clients append it to the path instead.
  const wellKnown = `/${wellKnownName}${base}`;
  const answerScript = scriptHandler(deps, tokens);

  return async (req, res) => {
    const [path = "", query = ""] = (req.url ?? "").split("?", 2);
    if (path === wellKnown) return answerOauth(req, res, "metadata");
    const name = path.slice(base.length).replace(/^\//, "");
    const endpoint = oauthEndpoints.get(name);
    if (endpoint !== undefined) return answerOauth(req, res, endpoint);
    // Every other request costs a statement, or a password's hash.
    const isReading = req.method === "GET" || req.method === "HEAD";
    const seconds = isReading ? undefined : deps.secondsToWait(deps.originOf(req).address);
    if (seconds !== undefined) return refuse(res, seconds);
    if (name === "session") return answerSession(req, res);
    const { secret, isNew } = tokens.secretOf(cookies.read(req.headers.cookie, "form"));
    const visit: Visit = {
      req,
      query: new URLSearchParams(query),
      origin: deps.originOf(req),
      language: languageOf(req.headers["accept-language"]),
      cookies,
      formToken: tokens.tokenOf(secret),
      pathTo: (page) => `${base}/${page}`,
    };
    if (name === "passkeys.js" || name.startsWith("passkeys/")) return answerScript(res, visit, name);
    const reply = await replyTo(visit, { page: pages.get(name), tokens }).catch((error: unknown) =>
      troubled(deps, visit, error),
    );
    const formCookie = isNew && "page" in reply ? [cookies.write("form", secret, formSeconds)] : [];
    send(req, res, visit, { ...reply, setCookies: [...(reply.setCookies ?? []), ...formCookie] });
  };
}

function refuse(res: ServerResponse, seconds: number): void {
  res.writeHead(429, { "retry-after": String(seconds), "content-type": "text/plain", connection: "close" });
  res.end(`Too many requests; try again in ${seconds} s.\n`);
}

/** How long a form can stay open, in seconds. */
const formSeconds = 24 * 60 * 60;

function pagesOf(deps: AuthDeps): ReadonlyMap<string, PageActions> {
  return new Map([
    ["", { open: () => ({ to: "account" }) }],
    ["sign-in", signInPage(deps)],
    ["code", codePage(deps)],
    ["invitation", invitationPage(deps)],
    ["confirm", confirmPage(deps)],
    ["reset", resetPage(deps)],
    ["forgotten", forgottenPage(deps)],
    ["sent", sentPage()],
    ["account", accountPage(deps)],
    ["sign-out", signOut(deps)],
    ["remove-passkey", removePasskeyPage(deps)],
    ["agent/claim", agentClaimPage(deps)],
    ["oauth2/auth", consentPage(deps)],
    ["end-access", endAccessPage(deps)],
    ...(deps.allowsSignUp ? ([["sign-up", signUpPage(deps)]] as const) : []),
  ]);
}

async function replyTo(
  visit: Visit,
  { page, tokens }: { readonly page: PageActions | undefined; readonly tokens: FormTokens },
): Promise<Reply> {
  const { req, cookies, origin } = visit;
  if (page === undefined) return { page: noticePage(visit, "NOT_FOUND") };
  if (req.method === "GET" || req.method === "HEAD") return page.open(visit);
  if (req.method !== "POST" || page.send === undefined) return { page: noticePage(visit, "WRONG_METHOD") };
  if (!isOwnPost(visit)) return { page: noticePage(visit, "FORBIDDEN") };
  const fields = readFields(
    await readBody(req, { mediaType: "application/x-www-form-urlencoded", address: origin.address }),
  );
  if (tokens.fits(cookies.read(req.headers.cookie, "form"), fields.get("form")))
    return page.send(visit, fields);
  // The fields that matter stand in the address or in cookies, so the form is shown anew with its own token.
  const shownAgain = ["challenge", attemptField].find((name) => fields.has(name));
  const query = new URLSearchParams(
    shownAgain === undefined ? fields.get("request") : { [shownAgain]: fields.get(shownAgain) ?? "" },
  );
  const shown = await page.open({ ...visit, query, alert: wordsOf(visit.language).faults.STALE });
  return "page" in shown ? { page: { ...shown.page, status: 403 } } : shown;
}

function readFields(text: string): Fields {
  const fields = new Map<string, string>();
  // PostgreSQL keeps no NUL; of a password it keeps a hash alone.
  for (const [name, value] of new URLSearchParams(text))
    if (!fields.has(name)) fields.set(name, name === "password" ? value : value.replaceAll("\0", ""));
  return fields;
}

const noticeOf: Partial<Record<CallError["reason"], NoticeKind>> = {
  REQUEST_TOO_LARGE: "TOO_LARGE",
  UNSUPPORTED_MEDIA_TYPE: "BAD_REQUEST",
};

/** The page of an error. */
function troubled(deps: AuthDeps, visit: Visit, thrown: unknown): Reply {
  const error = deps.toCallError(thrown);
  const { code, reason, refusal } = error;
  if (code === "INTERNAL" || refusal.cause !== undefined)
    deps.log.error({ failure: describeFailure(refusal.cause ?? error) }, "a sign-in page failed");
  const kind = noticeOf[reason] ?? "UNAVAILABLE";
  const { status } = deps.errorAnswer(error);
  const page = noticePage(visit, kind, status);
  if (code !== "RESOURCE_EXHAUSTED") return { page };
  const { retryAfter = 1 } = tooMany(visit, refusal.retryAfterSeconds ?? 1);
  return { page: { ...page, headers: [...page.headers, "Retry-After", String(retryAfter)] } };
}

function send(req: IncomingMessage, res: ServerResponse, { pathTo }: Visit, reply: Reply): void {
  const { setCookies = [] } = reply;
  const headers = {
    "cache-control": "no-store",
    // Links of mails stand in the address; no other host is to learn them. With `no-referrer`, posts would have no origin.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    "cross-origin-opener-policy": "same-origin",
    ...(setCookies.length > 0 && { "set-cookie": [...setCookies] }),
  };
  const location = "to" in reply ? pathTo(reply.to) : "back" in reply ? reply.back : undefined;
  if (location !== undefined) res.writeHead(303, { location, "content-length": 0, ...headers }).end();
  else if ("page" in reply) sendPage(req, res, reply.page, headers);
  discardBody(req, dropMax);
}

function sendPage(
  { method }: IncomingMessage,
  res: ServerResponse,
  { status, body, headers: own }: HostedPage,
  headers: OutgoingHttpHeaders,
): void {
  const pairs = own.flatMap((name, index) => (index % 2 === 0 ? [[name, own[index + 1]] as const] : []));
  res.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-length": body.length,
    ...(status === 405 && { allow: "GET, HEAD, POST" }),
    ...headers,
    ...Object.fromEntries(pairs),
  });
  res.end(method === "HEAD" ? undefined : body);
}
