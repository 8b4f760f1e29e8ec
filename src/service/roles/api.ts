import { createServices } from "../../api/services.ts";
import { openModel } from "../../assistant/open-model.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { createOauthStates } from "../../integrations/oauth-state.ts";
import { createTokenBox } from "../../integrations/token-box.ts";
import { jobCall, jobCalls } from "../../jobs/queue.ts";
import { createFaultFinder } from "../../lib/fetch/address-rules.ts";
import { createHostResolver } from "../../lib/fetch/resolve-host.ts";
import { createAddressJudge } from "../../lib/fetch/special-addresses.ts";
import { hostsOf, isLoopback, normalHost } from "../../lib/hosts.ts";
import { newId } from "../../lib/ids.ts";
import { createPictureReader } from "../../lib/images/reencode-image.ts";
import { createBodyBudget } from "../../lib/limits/body-budget.ts";
import { publicFileUrl, signFileUrl } from "../../lib/storage/file-url.ts";
import { readToolTable } from "../../mcp/tool-table.ts";
import { randomShortlink } from "../../model/links/shortlink.ts";
import type { SimulateVisits } from "../../model/simulated-visits.ts";
import { apiScopes } from "../../rpc/access.ts";
import { openPipeline } from "../../rpc/open-pipeline.ts";
import type { Handler } from "../../server/listen.ts";
import { openClaims } from "./open-agents.ts";
import { openDomains } from "./open-domains.ts";
import { openGoogle } from "./open-google.ts";
import { openSlack } from "./open-slack.ts";
import type { Parts } from "./parts.ts";
import { openProtocols, type Protocols } from "./protocols.ts";

/** The management API: its handlers for the port, and how to stop it. */
export interface ApiRole extends Protocols {
  /** The public names of all scopes. */
  readonly scopes: ReadonlySet<string>;
  /** Opens the sign-in pages, which are loaded with their first request. */
  openAuth(): Promise<(...request: Parameters<Handler>) => Promise<void>>;
  /** Opens the tools for models, which are loaded with their first request. */
  openMcp(): Promise<(...request: Parameters<Handler>) => Promise<void>>;
  /** Ends endless streams; called when shutdown begins. */
  endStreams(): void;
  close(): Promise<void>;
}

/** How long a call with `waitForQrcode` waits for the image, in milliseconds. */
const qrcodeWaitMs = 10_000;

/** Loads the simulation of visits with its first call. */
function lazySimulator({ db, storing, reader, addresses }: Parts): SimulateVisits {
  let simulating: Promise<SimulateVisits> | undefined;
  const load = async () => {
    const { createVisitSimulator } = await import("../../scan/simulated/simulate-visits.ts");
    const store = () => storing().store;
    return createVisitSimulator({ db, store, reader, shortUrl: addresses.shortUrl });
  };
  return async (order) => {
    simulating ??= load();
    return (await simulating)(order);
  };
}

/** Loads something with its first use, and keeps it. */
function lazily<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined;
  return () => {
    loading ??= load();
    return loading;
  };
}

/** Knows the hosts of the service, to which an answer of the assistant may link. */
function ownHosts({ baseUrl, shortUrl, authUrl }: Parts["addresses"]): (host: string) => boolean {
  const hosts = new Set([baseUrl, shortUrl, authUrl].flatMap((url) => [...hostsOf(new URL(url))]));
  return (host) => hosts.has(normalHost(host));
}

/** Opens the pipeline and every protocol in front of it. `ready` tells health checks whether the process can answer. */
export async function startApi(parts: Parts, ready: () => Promise<boolean>): Promise<ApiRole> {
  const { config, db, connection, now, log, keyFor, addresses, metrics, readOrigin } = parts;
  const { baseUrl, shortUrl } = addresses;
  const entitlements = createEntitlements({ plans: config.plans, now });
  const pipeline = await openPipeline({
    db,
    connections: config.databasePoolSize,
    connection,
    now,
    keyFor,
    baseUrl,
    authUrl: addresses.authUrl,
    mcpUrl: addresses.mcpUrl,
    rateLimits: config.rateLimits,
    entitlements,
    requestTimeoutMs: config.requestTimeoutMs,
    metrics,
    log,
    services: (pipelineParts) =>
      createServices({
        ...pipelineParts,
        now,
        newShortlink: randomShortlink,
        jobCall,
        jobCalls,
        autonomousDb: parts.autonomousDb,
        analytics: parts.analytics,
        storage: parts.storage,
        pictures: createPictureReader(),
        publicFileUrl: (storageKey) => publicFileUrl(storageKey, baseUrl),
        signFileUrl: (storageKey, expiresAt) =>
          signFileUrl(storageKey, { baseUrl, expiresAt, key: keyFor("file-urls") }),
        shortUrl,
        approvesEnrollment: isLoopback(new URL(baseUrl).hostname),
        google: openGoogle(parts),
        ...openClaims(parts),
        model: config.model && openModel(config.model),
        toolFacts: lazily(readToolTable),
        isOwnHost: ownHosts(addresses),
        domains: openDomains(parts),
        stepPasswordKey: keyFor("step-passwords"),
        webhookSecretKey: keyFor("webhook-secrets"),
        addressFaultOf: createFaultFinder({
          resolve: createHostResolver(),
          judge: createAddressJudge(config.allowedPrivateNetworks),
        }),
        oauthStates: createOauthStates(keyFor("oauth-states"), now),
        tokenBox: createTokenBox(keyFor("integration-tokens")),
        slack: openSlack(config, addresses),
        bulkJobLinks: config.bulkJobLinks,
        simulateVisits: lazySimulator(parts),
        plans: config.plans,
        entitlements,
        baseUrl,
        signUpUrl: `${addresses.authUrl}/sign-up`,
        qrcodeWaitMs,
      }),
  });
  const bodies = createBodyBudget(config.bodies);
  const shutdown = new AbortController();
  const protocols = openProtocols({
    services: pipeline.services,
    invoke: pipeline.invoke,
    limitsOf: pipeline.limitsOf,
    readOrigin,
    bodies,
    newRequestId: () => newId(now()),
    onFault: (error, requestId) => log.error({ err: error, requestId }, "an adapter failed"),
    ready,
    pace: pipeline.pace,
    reflection: config.reflection,
    shutdownSignal: shutdown.signal,
  });
  const openAuth = async () => {
    const { openSignIn } = await import("./sign-in.ts");
    return openSignIn(parts, pipeline);
  };
  const openMcp = async () => (await import("./open-mcp.ts")).openMcp(parts, pipeline, bodies);
  return {
    ...protocols,
    openAuth,
    openMcp,
    scopes: apiScopes,
    endStreams: () => shutdown.abort(),
    close: pipeline.close,
  };
}
