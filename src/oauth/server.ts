import type { Logger } from "pino";
import type { MemberRole } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { grantsMax } from "../model/grants.ts";
import { anyAddress, takeNetworkTry } from "../people/sign-in-tries.ts";
import { createAccessTokenSigner, createAccessTokenVerifier } from "./access-tokens.ts";
import {
  type AuthorizationRequest,
  answerAddress,
  checkOnce,
  type RequestTerms,
  readRequest,
  redirectUriOf,
} from "./authorization-request.ts";
import { createClientDocuments, type FetchDocument, isDocumentAddress } from "./client-documents.ts";
import { type Client, findClient, noteClient } from "./clients.ts";
import { countGrants, makeGrant } from "./grants.ts";
import { createHandles } from "./handles.ts";
import { createTokenIssuer, type TokenAnswer } from "./issue-tokens.ts";
import { metadataOf } from "./metadata.ts";
import { isOauthFault, oauthFault } from "./oauth-fault.ts";
import { registerClient } from "./register-client.ts";
import type { ResourceAddresses } from "./resources.ts";
import { revokeToken } from "./revoke-token.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { type AnswerGrant, type Asker, answerToken, type Form } from "./token-endpoint.ts";

export interface OauthDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** Address of this authorization server, without a slash at the end. */
  readonly issuer: string;
  readonly resources: ResourceAddresses;
  readonly keys: SigningKeys;
  /** The key for `oauth-secrets`. */
  readonly secretKey: Uint8Array;
  /** Every scope there is. */
  readonly scopes: ReadonlySet<string>;
  /** The scopes of programs that ask for none. */
  readonly usualScopes: ReadonlySet<string>;
  readonly scopesOf: (role: MemberRole) => ReadonlySet<string>;
  readonly fetchDocument: FetchDocument;
  readonly log: Pick<Logger, "info">;
  /** Answers requests for tokens with further grant types. */
  readonly otherGrants: ReadonlyMap<string, AnswerGrant>;
  /** What others put into the metadata. */
  readonly metadata: object;
  /** Makes the end of a grant count in this process at once. */
  readonly onRevoked: (grantId: string) => void;
}

/** Who asks a member, as far as the request says, and what is wrong with the rest of it. */
export type Asked =
  | { readonly request: AuthorizationRequest }
  | { readonly request: undefined; readonly client: Client; readonly fault: string; readonly back: string };

export interface Consent {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly scopes: readonly string[];
}

/** Where a member who consents goes on, or why nothing was granted. */
export type Granted =
  | { readonly kind: "granted"; readonly back: string }
  /** The member has as many grants as members can have. */
  | { readonly kind: "full" }
  /** The member has let in many programs in the last hour. */
  | { readonly kind: "wait"; readonly seconds: number };

/** The authorization server, which knows no HTTP. Its methods throw an `OauthFault` for what they refuse. */
export interface OauthServer {
  metadata(): object;
  /** The public keys of access tokens, as RFC 7517 writes them. */
  keys(): Promise<object>;
  token(form: Form, asker: Asker): Promise<TokenAnswer>;
  register(metadata: unknown, address: string): Promise<object>;
  revoke(form: Form, asker: Asker): Promise<void>;
  /** Reads a request for consent, for a member at an address. Throws when nobody may be sent back to whoever asks. */
  read(query: URLSearchParams, address: string): Promise<Asked>;
  /** Grants what a member consents to. */
  grant(request: AuthorizationRequest, consent: Consent): Promise<Granted>;
  /** Where a member goes on who refuses. */
  refusal(request: AuthorizationRequest): string;
  readonly scopesOf: OauthDeps["scopesOf"];
}

/** How long a code can be exchanged, in milliseconds: programs do so at once. */
const codeLifeMs = 60_000;

/** How many programs a member may let in in an hour: every process remembers each grant that ended early. */
const grantsPerHour = 30;

/** How many documents the members of one network may have fetched in an hour. */
const documentsMax = 60;

export function createOauthServer(deps: OauthDeps): OauthServer {
  const { db, now, issuer, keys, secretKey, log } = deps;
  const handles = createHandles(secretKey);
  const signAccessToken = createAccessTokenSigner({ keys, issuer });
  const issue = createTokenIssuer({ db, now, handles, signAccessToken });
  const documents = createClientDocuments(deps);
  const tokenDeps = { ...deps, handles, issue };
  const revokeDeps = { ...tokenDeps, verifyAccessToken: createAccessTokenVerifier({ keys, issuer }) };
  const terms: RequestTerms = deps;

  async function clientOf(id: string, address: string): Promise<Client> {
    const order = { name: "oauth document", address, max: documentsMax };
    const client = isDocumentAddress(id)
      ? await documents.read(id, async () => {
          const seconds = await takeNetworkTry(db, order, now());
          if (seconds > 0) throw tooManyDocuments(seconds);
        })
      : await findClient(db, id);
    if (client === undefined) throw oauthFault("invalid_client", "client_id: no such program is registered");
    return client;
  }

  return {
    scopesOf: deps.scopesOf,
    metadata: () => metadataOf(deps),
    keys: async () => ({ keys: await keys.published() }),
    token: (form, asker) => answerToken(tokenDeps, form, asker),
    register: (metadata, address) => registerClient(deps, metadata, address),
    revoke: (form, asker) => revokeToken(revokeDeps, form, asker),
    async read(query, address) {
      checkOnce(query);
      const client = await clientOf(query.get("client_id") ?? "", address);
      const redirectUri = redirectUriOf(query, client);
      return judged(query, { client, redirectUri }, terms, issuer);
    },
    async grant(request, { workspaceId, memberId, scopes }) {
      const { client, redirectUri, challenge, resource } = request;
      const at = now();
      if ((await countGrants(db, { workspaceId, memberId }, at)) >= grantsMax) return { kind: "full" };
      const order = { name: `oauth grant ${memberId}`, address: anyAddress, max: grantsPerHour };
      const seconds = await takeNetworkTry(db, order, at);
      if (seconds > 0) return { kind: "wait", seconds };
      const expiresAt = new Date(at.getTime() + codeLifeMs);
      const grantId = await makeGrant(
        db,
        {
          ...{ workspaceId, memberId, resource, expiresAt, scope: scopes.join(" ") },
          ...{ clientId: client.id, clientName: client.name },
          code: { redirectUri, challenge, expiresAt },
        },
        at,
      );
      await noteClient(db, client.id, at);
      log.info({ workspaceId, memberId, grantId, client: client.id }, "a member let a program in");
      const code = handles.write({ workspaceId, grantId, number: 0 });
      return { kind: "granted", back: answerAddress(request, { code }, issuer) };
    },
    refusal: (request) => answerAddress(request, { error: "access_denied" }, issuer),
  };
}

/** What is wrong with the rest of a request is for the program to learn, but only if the member goes there. */
function judged(
  query: URLSearchParams,
  known: Pick<AuthorizationRequest, "client" | "redirectUri">,
  terms: RequestTerms,
  issuer: string,
): Asked {
  try {
    return { request: readRequest(query, known, terms) };
  } catch (thrown) {
    if (!isOauthFault(thrown)) throw thrown;
    const answer = { error: thrown.oauthError, error_description: thrown.message };
    const sender = { ...known, state: query.get("state") ?? undefined };
    const back = answerAddress(sender, answer, issuer);
    return { request: undefined, client: known.client, fault: thrown.message, back };
  }
}

function tooManyDocuments(seconds: number) {
  const message = "too many documents of programs were asked for; try again later";
  return oauthFault("temporarily_unavailable", message, { status: 429, retryAfterSeconds: seconds });
}
