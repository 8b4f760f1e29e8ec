import { getOption } from "@bufbuild/protobuf";
import { ApiScopeSchema, scope_description } from "../../../gen/signpost/options/v1/access_pb.js";
import { createClaimTokens } from "../../agents/claim-tokens.ts";
import { createUnclaimedWorkspace } from "../../api/workspaces/create-workspace.ts";
import {
  type AgentsDeps,
  agentMetadata,
  answerClaimGrant,
  claimGrantType,
} from "../../auth/agent-endpoints.ts";
import { authHandler } from "../../auth/handler.ts";
import { enqueue } from "../../jobs/queue.ts";
import { scopeName } from "../../model/scope.ts";
import { resourcesAt } from "../../oauth/resources.ts";
import { createOauthServer } from "../../oauth/server.ts";
import { createPasswordGate } from "../../people/passwords.ts";
import { createSessionSigner, createSessionVerifier } from "../../people/sessions.ts";
import { errorBody, httpStatusOf } from "../../rest/error-body.ts";
import { apiScopes } from "../../rpc/access.ts";
import type { OpenPipeline } from "../../rpc/open-pipeline.ts";
import { roleGrants } from "../../rpc/pipeline/credentials/grants.ts";
import { toCallError } from "../../rpc/pipeline/failure.ts";
import { connectionOf } from "../../server/connection.ts";
import { createDocumentFetch } from "./document-fetch.ts";
import { memberJson } from "./member-json.ts";
import { openAgentGrants } from "./open-agents.ts";
import type { Parts } from "./parts.ts";

/** What each scope allows, in words, by its public name. */
export const scopeDescriptions: ReadonlyMap<string, string> = new Map(
  ApiScopeSchema.values.map((value) => [scopeName(value.name), getOption(value, scope_description)]),
);

/** Opens the sign-in pages and the session for programs. */
export function openSignIn(
  { config, addresses, now, log, keyFor, readOrigin, reader }: Parts,
  {
    strangersDb: db,
    secondsToWait,
    onMemberChanged,
    onRevoked,
    signingKeys,
  }: Pick<OpenPipeline, "strangersDb" | "secondsToWait" | "onMemberChanged" | "onRevoked" | "signingKeys">,
) {
  const sessionKey = keyFor("member-sessions");
  const agents: AgentsDeps = {
    mayRegister: config.registersAgents,
    tokens: createClaimTokens(keyFor("agent-claims")),
    grants: openAgentGrants({ db, now, keyFor, addresses, keys: signingKeys }),
    createWorkspace: (tx, name, at) => createUnclaimedWorkspace(tx, name, at, config.plans),
    scopes: apiScopes,
  };
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
    agents,
    onMemberChanged,
    onRevoked,
    oauth: createOauthServer({
      ...{ db, now, onRevoked, keys: signingKeys },
      issuer: addresses.authUrl,
      resources: resourcesAt(addresses.baseUrl, addresses.mcpUrl),
      secretKey: keyFor("oauth-secrets"),
      scopes: apiScopes,
      // Programs that do not say what they need get what agents get: nothing that only administrators may do.
      usualScopes: roleGrants.TECH.scopes,
      scopesOf: (role) => roleGrants[role].scopes,
      fetchDocument: createDocumentFetch({
        allowedNetworks: config.allowedPrivateNetworks,
        proxies: config.proxies,
      }),
      otherGrants: new Map([[claimGrantType, answerClaimGrant({ db, now, ...agents })]]),
      metadata: config.registersAgents ? agentMetadata(addresses) : {},
    }),
    scopeDescriptions,
    secondsToWait,
    memberJson,
    toCallError,
    errorAnswer: (error) => ({ status: httpStatusOf(error), body: errorBody(error) }),
    originOf: (req) => readOrigin(connectionOf(req)),
  });
}
