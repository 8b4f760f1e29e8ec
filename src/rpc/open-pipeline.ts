import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ScopeChange } from "../db/channels.ts";
import type { Entitlements } from "../db/entitlements.ts";
import type { Db } from "../db/open.ts";
import { createTurns, type TurnsOptions } from "../db/turns.ts";
import type { KeyPurpose } from "../lib/keys.ts";
import { noWorkspace } from "../model/no-workspace.ts";
import type { SignToken } from "../model/token.ts";
import { createAccessTokenVerifier } from "../oauth/access-tokens.ts";
import { resourcesAt } from "../oauth/resources.ts";
import { createSigningKeys, type SigningKeys } from "../oauth/signing-keys.ts";
import { createSessionVerifier } from "../people/sessions.ts";
import { createStandings, type Standings } from "../people/standing.ts";
import type { AnswerHeaders, Invoke } from "./call.ts";
import type { RegisteredService } from "./handlers.ts";
import { createApiCalls } from "./pipeline/api-calls.ts";
import { createAuthenticate } from "./pipeline/credentials/authenticate.ts";
import { createGrantIdentities } from "./pipeline/credentials/grant-identities.ts";
import { openRevocations } from "./pipeline/credentials/revocations.ts";
import { createSessionIdentities } from "./pipeline/credentials/session-identities.ts";
import { createTokenUse } from "./pipeline/credentials/token-use.ts";
import { createTokenSigner, createTokenVerifier } from "./pipeline/credentials/tokens.ts";
import { createLetIn, type LetCallerIn } from "./pipeline/let-in.ts";
import { createCallMetrics } from "./pipeline/metrics.ts";
import { createPipeline } from "./pipeline/pipeline.ts";
import { createRateLimiter, limitHeaders, type RateLimiterDeps } from "./pipeline/rate-limit.ts";

export interface PipelineOptions {
  readonly db: Db;
  /** How many connections `db` has. */
  readonly connections: number;
  /** For the connection that listens for revocations. */
  readonly connection: pg.ClientConfig;
  readonly now: () => Date;
  readonly keyFor: (purpose: KeyPurpose) => Uint8Array;
  /** Public address of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** Address of the authorization server, without a slash at the end. */
  readonly authUrl: string;
  /** Address of the tools for models. */
  readonly mcpUrl: string;
  readonly rateLimits: RateLimiterDeps["limits"];
  /** What each workspace is allowed. */
  readonly entitlements: Entitlements;
  readonly requestTimeoutMs: number;
  readonly metrics: Registry;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** The services to serve, given what their handlers need of the pipeline. */
  readonly services: (parts: PipelineParts) => readonly RegisteredService[];
}

/** What handlers need of the pipeline. */
export interface PipelineParts {
  readonly signToken: SignToken;
  /** Makes a revocation effective in this process before its notification comes back from the database. */
  readonly onRevoked: (subject: string) => void;
  /** Makes changed scopes effective in this process; call it once their transaction has committed. */
  readonly onScopesChanged: (change: ScopeChange) => void;
  /** Makes a change of a member's role or sessions effective in this process; call it once the transaction has committed. */
  readonly onMemberChanged: Standings["forget"];
}

export interface OpenPipeline extends Pick<PipelineParts, "onMemberChanged" | "onRevoked"> {
  /** The keys that sign access tokens. */
  readonly signingKeys: SigningKeys;
  readonly invoke: Invoke;
  /** Lets a caller in for a protocol that must know the caller before it reads a request. */
  readonly letIn: LetCallerIn;
  readonly services: readonly RegisteredService[];
  /** Waits until an address without a token may ask once more; rejects with the signal's reason. */
  pace(address: string, signal: AbortSignal): Promise<void>;
  /** The rate-limit headers for a caller who is refused before the method is known; counts one anonymous call. */
  readonly limitsOf: (address: string) => AnswerHeaders;
  /** Takes one request from the rate of an address. Seconds to wait when nothing is left of it. */
  readonly secondsToWait: (address: string) => number | undefined;
  /** The share of the pool that all callers without a token have together. */
  readonly strangersDb: Db;
  /** Writes what is kept in memory for a while: API calls, last uses of tokens, rates. */
  flush(): Promise<void>;
  /** Flushes for the last time and stops listening; call it before the database closes. */
  close(): Promise<void>;
}

/** Builds the pipeline and everything that it keeps between calls. */
export async function openPipeline(options: PipelineOptions): Promise<OpenPipeline> {
  const { db, connection, now, log, baseUrl, keyFor, requestTimeoutMs } = options;
  const tokenKey = keyFor("access-tokens");
  const revocations = await openRevocations({ db, connection, now, log });
  const tokenUse = createTokenUse({ db, log });
  const standings = createStandings({ db, now });
  const signingKeys = createSigningKeys({ db, now, sealingKey: keyFor("oauth-signing-keys") });
  const rateLimiter = createRateLimiter({ db, now, log, limits: options.rateLimits });
  const apiCalls = createApiCalls({ db, now, log, entitlements: options.entitlements });
  const close = async () => {
    await Promise.all([apiCalls.close(), tokenUse.close(), rateLimiter.close(), revocations.close()]);
  };
  try {
    const services = options.services({
      signToken: createTokenSigner(tokenKey),
      onRevoked: revocations.add,
      onScopesChanged: revocations.change,
      onMemberChanged: standings.forget,
    });
    const turns = createTurns(db, sharesOf(options.connections));
    const authenticate = createAuthenticate({
      verifyToken: createTokenVerifier(tokenKey),
      revocations,
      tokenUse,
      sessions: createSessionIdentities({
        verifySession: createSessionVerifier(keyFor("member-sessions")),
        standings,
      }),
      grants: createGrantIdentities({
        verifyAccessToken: createAccessTokenVerifier({ keys: signingKeys, issuer: options.authUrl }),
        standings,
      }),
      resources: resourcesAt(baseUrl, options.mcpUrl),
    });
    const invoke = createPipeline({
      services,
      turns,
      now,
      authenticate,
      rateLimiter,
      apiCalls,
      idempotency: {
        fingerprintKey: keyFor("idempotency-fingerprints"),
        outcomeKey: keyFor("idempotency-outcomes"),
      },
      metrics: createCallMetrics(options.metrics),
      log,
      requestTimeoutMs,
    });
    const flush = async () => {
      await Promise.all([apiCalls.flush(), tokenUse.flush(), rateLimiter.sync()]);
    };
    const pace = async (address: string, signal: AbortSignal) => {
      for (;;) {
        const bucket = rateLimiter.take({ kind: "anonymous", address });
        if (bucket === undefined || bucket.isAllowed) return;
        await pause(bucket.retryAfterSeconds * 1000, undefined, { signal, ref: false });
      }
    };
    const limitsOf = (address: string) => limitHeaders(rateLimiter.take({ kind: "anonymous", address }));
    const secondsToWait = (address: string) => {
      const left = rateLimiter.take({ kind: "anonymous", address });
      return left?.isAllowed === false ? left.retryAfterSeconds : undefined;
    };
    const strangersDb = turns.of(noWorkspace);
    return {
      ...{ invoke, services, signingKeys, strangersDb },
      letIn: createLetIn({ authenticate, rateLimiter, now }),
      ...{ pace, limitsOf, secondsToWait, flush, close },
      ...{ onMemberChanged: standings.forget, onRevoked: revocations.add },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Rates, revocations and readiness keep one connection; one workspace may hold half of all connections. */
function sharesOf(connections: number): TurnsOptions {
  return { connections: Math.max(1, connections - 1), share: Math.max(1, Math.floor(connections / 2)) };
}
