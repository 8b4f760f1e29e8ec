import type { IncomingMessage, ServerResponse } from "node:http";
import { describeFailure } from "../db/describe-failure.ts";
import { type CallError, fail, invalid } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { discardBody, dropMax } from "../lib/limits/request-body.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { asObject } from "../model/json-fields.ts";
import { endSession } from "../people/end-sessions.ts";
import { signIn } from "../people/sign-in.ts";
import type { AuthDeps } from "./deps.ts";
import { parseJson, readBody } from "./read-body.ts";
import { openSession } from "./signed-in.ts";
import { signInOrigin } from "./visit.ts";

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The session for programs: POST signs in and answers the member with `accessToken`, DELETE ends the session that comes
 * as the bearer token. It takes JSON and knows no cookies, so no page of another host can use it.
 */
export function sessionHandler(deps: AuthDeps): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const requestId = requestIdOf(req.headers["x-request-id"], () => newId(deps.now()));
    const { status, body, headers } = await answerOf(deps, req).catch((thrown: unknown) =>
      refused(deps, thrown, requestId),
    );
    res.writeHead(status, {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
      ...(body !== undefined && {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      }),
      ...headers,
    });
    res.end(body);
    discardBody(req, dropMax);
  };
}

async function answerOf(deps: AuthDeps, req: IncomingMessage): Promise<Answer> {
  if (req.method === "POST") return signInAnswer(deps, req);
  if (req.method === "DELETE") return signOutAnswer(deps, req);
  throw fail("UNIMPLEMENTED", "METHOD_NOT_ALLOWED", "use POST to sign in and DELETE to sign out", {
    httpStatus: 405,
    headers: { allow: "POST, DELETE" },
  });
}

async function signInAnswer(deps: AuthDeps, req: IncomingMessage): Promise<Answer> {
  const origin = signInOrigin({ req, origin: deps.originOf(req) });
  const { address } = origin;
  const given = readAttempt(await readBody(req, { mediaType: "application/json", address }));
  const outcome = await signIn(deps, { ...given, ...origin });
  switch (outcome.kind) {
    case "signed-in": {
      const body = await deps.memberJson(deps.db, outcome.session);
      if (body === undefined) throw mismatch(given);
      return { status: 200, body };
    }
    case "code-needed":
      throw fail(
        "UNAUTHENTICATED",
        "SIGN_IN_CODE_REQUIRED",
        "a code of 6 digits was mailed to the member; send it as `code`, together with e-mail and password",
      );
    case "wait":
      throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many wrong passwords or codes; try again later", {
        retryAfterSeconds: outcome.seconds,
      });
    case "refused":
      throw mismatch(given);
  }
}

function mismatch({ code }: { readonly code: string | undefined }): CallError {
  const what = code === undefined ? "e-mail and password" : "e-mail, password and code";
  return fail("UNAUTHENTICATED", "UNAUTHENTICATED", `${what} do not match an account`);
}

/** Longer texts are no address, password or code of ours. */
const lengths = { email: 254, password: 1_024, code: 16 };

function readAttempt(text: string): { email: string; password: string; code: string | undefined } {
  const body = asObject(parseJson(text));
  if (body === undefined) throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the body is no JSON object");
  const { email, password, code } = body;
  const wrong = [
    ...(isText(email, lengths.email) ? [] : [{ field: "email", description: "must be an e-mail address" }]),
    ...(isText(password, lengths.password)
      ? []
      : [{ field: "password", description: "must be a text of 1 to 1,024 characters" }]),
    ...(code === undefined || code === "" || isText(code, lengths.code)
      ? []
      : [{ field: "code", description: "must be the 6 digits of the mail, as a text" }]),
  ];
  if (!isText(email, lengths.email) || !isText(password, lengths.password) || wrong.length > 0)
    throw invalid(wrong);
  return { email, password, code: typeof code === "string" && code !== "" ? code : undefined };
}

function isText(value: unknown, max: number): value is string {
  return typeof value === "string" && value !== "" && [...value].length <= max;
}

async function signOutAnswer(deps: AuthDeps, req: IncomingMessage): Promise<Answer> {
  const accessToken = /^Bearer +(\S+) *$/i.exec(req.headers.authorization ?? "")?.[1];
  const open = await openSession(deps, accessToken);
  if (open === undefined) {
    throw fail(
      "UNAUTHENTICATED",
      "UNAUTHENTICATED",
      "send an open session as `Authorization: Bearer <session>`",
      {
        headers: { "www-authenticate": "Bearer" },
      },
    );
  }
  await endSession(deps.db, open.session, deps.now());
  deps.onMemberChanged(open.session);
  return { status: 204 };
}

function refused(deps: AuthDeps, thrown: unknown, requestId: string): Answer {
  const error: CallError = deps.toCallError(thrown);
  const { cause, headers, retryAfterSeconds } = error.refusal;
  if (cause !== undefined) deps.log.error({ failure: describeFailure(cause), requestId }, "a sign-in failed");
  const wait = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { ...deps.errorAnswer(error), headers: { ...headers, ...wait } };
}
