import type { ServerResponse } from "node:http";
import { describeFailure } from "../db/describe-failure.ts";
import { fail } from "../lib/errors.ts";
import { discardBody, dropMax } from "../lib/limits/request-body.ts";
import { objectOf } from "../model/json-fields.ts";
import type { AuthDeps } from "./deps.ts";
import type { FormTokens } from "./form-token.ts";
import { isOwnPost } from "./own-post.ts";
import { passkeyScript } from "./passkey-script.ts";
import { passkeyActions, type ScriptAction, type ScriptAnswer } from "./passkeys.ts";
import { parseJson, readBody } from "./read-body.ts";
import type { Visit } from "./visit.ts";

/** Serves the script of the pages, and answers its questions under the rules of forms. */
export function scriptHandler(
  deps: AuthDeps,
  tokens: FormTokens,
): (res: ServerResponse, visit: Visit, name: string) => Promise<void> {
  const actions = passkeyActions(deps);
  return async (res, visit, name) => {
    if (name === "passkeys.js") return sendScript(res);
    const task = name.slice("passkeys/".length);
    const { status, body, setCookies, headers } = await answerOf(visit, tokens, actions.get(task))
      .then(({ json, setCookies = [] }) => ({
        status: 200,
        body: JSON.stringify(json),
        setCookies,
        headers: {},
      }))
      .catch((thrown: unknown) => refused(deps, thrown));
    res.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...(setCookies.length > 0 && { "set-cookie": [...setCookies] }),
      ...headers,
    });
    res.end(body);
    discardBody(visit.req, dropMax);
  };
}

function sendScript(res: ServerResponse): void {
  res.writeHead(200, {
    "content-type": "text/javascript; charset=utf-8",
    "content-length": Buffer.byteLength(passkeyScript),
    "cache-control": "public, max-age=300",
    "x-content-type-options": "nosniff",
  });
  res.end(passkeyScript);
}

async function answerOf(
  visit: Visit,
  tokens: FormTokens,
  action: ScriptAction | undefined,
): Promise<ScriptAnswer> {
  const { req, cookies, origin } = visit;
  if (action === undefined || req.method !== "POST")
    throw fail("NOT_FOUND", "NOT_FOUND", "there is nothing here");
  const text = await readBody(req, { mediaType: "application/json", address: origin.address });
  const body = objectOf(parseJson(text));
  const token = typeof body.form === "string" ? body.form : undefined;
  if (!isOwnPost(visit) || !tokens.fits(cookies.read(req.headers.cookie, "form"), token))
    throw fail("PERMISSION_DENIED", "PERMISSION_DENIED", "open the page again");
  return action(visit, body);
}

function refused(deps: AuthDeps, thrown: unknown) {
  const error = deps.toCallError(thrown);
  const { cause, retryAfterSeconds } = error.refusal;
  if (cause !== undefined && error.code !== "INVALID_ARGUMENT")
    deps.log.error({ failure: describeFailure(cause) }, "a passkey could not be used");
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...deps.errorAnswer(error), setCookies: [] as readonly string[], headers };
}
