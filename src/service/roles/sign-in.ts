import { authHandler } from "../../auth/handler.ts";
import { enqueue } from "../../jobs/queue.ts";
import { createPasswordGate } from "../../people/passwords.ts";
import { createSessionSigner, createSessionVerifier } from "../../people/sessions.ts";
import { errorBody, httpStatusOf } from "../../rest/error-body.ts";
import type { OpenPipeline } from "../../rpc/open-pipeline.ts";
import { toCallError } from "../../rpc/pipeline/failure.ts";
import { connectionOf } from "../../server/connection.ts";
import { memberJson } from "./member-json.ts";
import type { Parts } from "./parts.ts";

/** Opens the sign-in pages and the session for programs. */
export function openSignIn(
  { config, addresses, now, log, keyFor, readOrigin, reader }: Parts,
  {
    strangersDb: db,
    secondsToWait,
    onMemberChanged,
  }: Pick<OpenPipeline, "strangersDb" | "secondsToWait" | "onMemberChanged">,
) {
  const sessionKey = keyFor("member-sessions");
  return authHandler({
    db,
    now,
    log,
    authUrl: addresses.authUrl,
    challengeKey: keyFor("member-challenges"),
    formKey: keyFor("sign-in-forms"),
    signSession: createSessionSigner(sessionKey),
    verifySession: createSessionVerifier(sessionKey),
    passwords: createPasswordGate(),
    queueMail: (tx, mail) => enqueue(tx, "send-mail", mail),
    queueJob: enqueue,
    findPlace: async (address) => (await reader.open()).geography.placeOf(address),
    allowsSignUp: config.allowsSignUp,
    onMemberChanged,
    secondsToWait,
    memberJson,
    toCallError,
    errorAnswer: (error) => ({ status: httpStatusOf(error), body: errorBody(error) }),
    originOf: (req) => readOrigin(connectionOf(req)),
  });
}
