import { getOption } from "@bufbuild/protobuf";
import { ApiScope, ApiScopeSchema, scope_description } from "../../../gen/signpost/options/v1/access_pb.js";
import { createClaimTokens } from "../../agents/claim-tokens.ts";
import { createUnclaimedWorkspace } from "../../api/workspaces/create-workspace.ts";
import { authHandler } from "../../auth/handler.ts";
import { enqueue } from "../../jobs/queue.ts";
import { scopeName } from "../../model/scope.ts";
import { createPasswordGate } from "../../people/passwords.ts";
import { createSessionSigner, createSessionVerifier } from "../../people/sessions.ts";
import { errorBody, httpStatusOf } from "../../rest/error-body.ts";
import type { OpenPipeline } from "../../rpc/open-pipeline.ts";
import { toCallError } from "../../rpc/pipeline/failure.ts";
import { connectionOf } from "../../server/connection.ts";
import { memberJson } from "./member-json.ts";
import { openAgentGrants } from "./open-agents.ts";
import type { Parts } from "./parts.ts";

/** What each scope allows, in words, by its public name. */
export const scopeDescriptions: ReadonlyMap<string, string> = new Map(
  ApiScopeSchema.values.flatMap((value): [string, string][] =>
    value.number === ApiScope.UNSPECIFIED
      ? []
      : [[scopeName(value.name), getOption(value, scope_description)]],
  ),
);

/** Opens the sign-in pages and the session for programs. */
export function openSignIn(
  { config, addresses, now, log, keyFor, readOrigin, reader }: Parts,
  {
    strangersDb: db,
    secondsToWait,
    onMemberChanged,
    signingKeys: keys,
  }: Pick<OpenPipeline, "strangersDb" | "secondsToWait" | "onMemberChanged" | "signingKeys">,
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
    agents: {
      mayRegister: config.registersAgents,
      tokens: createClaimTokens(keyFor("agent-claims")),
      grants: openAgentGrants({ db, now, keyFor, addresses, keys }),
      createWorkspace: (tx, name, at) => createUnclaimedWorkspace(tx, name, at, config.plans),
      scopeSentences: scopeDescriptions,
    },
    onMemberChanged,
    secondsToWait,
    memberJson,
    toCallError,
    errorAnswer: (error) => ({ status: httpStatusOf(error), body: errorBody(error) }),
    originOf: (req) => readOrigin(connectionOf(req)),
  });
}
