import { rm } from "node:fs/promises";
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Writable } from "node:stream";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, expect } from "vitest";
import { createClaimTokens } from "../../src/agents/claim-tokens.ts";
import { referenceAnalytics } from "../../src/analytics/reference/driver.ts";
import type { AgentIdentityDeps } from "../../src/api/agent-identity/claim-workspace.ts";
import type { AssistantDeps } from "../../src/api/assistant/deps.ts";
import type { DomainDeps } from "../../src/api/custom-domains/create-domain.ts";
import type { Deps } from "../../src/api/deps.ts";
import type { GoogleFormsDeps } from "../../src/api/google-forms-integrations/service.ts";
import type { SandboxesDeps } from "../../src/api/sandboxes/service.ts";
import { createServices } from "../../src/api/services.ts";
import type { SlackDeps } from "../../src/api/slack-integrations/deps.ts";
import { type CreatedWorkspace, createWorkspace } from "../../src/api/workspaces/create-workspace.ts";
import type { FactsOf } from "../../src/assistant/tools.ts";
import { createEntitlements } from "../../src/db/entitlements.ts";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { noCertificates } from "../../src/domains/certificates.ts";
import { type Domains, type DomainsOptions, openDomains } from "../../src/domains/domains.ts";
import { createOauthStates } from "../../src/integrations/oauth-state.ts";
import { createSlack } from "../../src/integrations/slack/slack.ts";
import { createTokenBox, type TokenBox } from "../../src/integrations/token-box.ts";
import { builtInFiles } from "../../src/jobs/built-in-themes.ts";
import { jobCall, jobCalls } from "../../src/jobs/queue.ts";
import { createOriginReader } from "../../src/lib/client-address.ts";
import { createFaultFinder } from "../../src/lib/fetch/address-rules.ts";
import { createHostResolver } from "../../src/lib/fetch/resolve-host.ts";
import { createAddressJudge } from "../../src/lib/fetch/special-addresses.ts";
import { newId } from "../../src/lib/ids.ts";
import { createPictureReader } from "../../src/lib/images/reencode-image.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { createBodyBudget } from "../../src/lib/limits/body-budget.ts";
import { filesPath, publicFileUrl, signFileUrl } from "../../src/lib/storage/file-url.ts";
import { openStorage } from "../../src/lib/storage/open-storage.ts";
import type { Storage } from "../../src/lib/storage/storage.ts";
import type { McpHandler } from "../../src/mcp/handler.ts";
import { readToolTable } from "../../src/mcp/tool-table.ts";
import { randomShortlink } from "../../src/model/links/shortlink.ts";
import { defaultPlans } from "../../src/model/plans/plan-table.ts";
import { scopeText } from "../../src/model/scope.ts";
import type { SimulateVisits } from "../../src/model/simulated-visits.ts";
import { claimGrant } from "../../src/oauth/grants.ts";
import { createPasswordGate, hashPassword } from "../../src/people/passwords.ts";
import { createSessionSigner } from "../../src/people/sessions.ts";
import type { Invoke } from "../../src/rpc/call.ts";
import type { RegisteredService } from "../../src/rpc/handlers.ts";
import { type OpenPipeline, openPipeline, type PipelineOptions } from "../../src/rpc/open-pipeline.ts";
import { createTokenSigner } from "../../src/rpc/pipeline/credentials/tokens.ts";
import { lazyReader } from "../../src/scan/device/request-reader.ts";
import { createVisitSimulator } from "../../src/scan/simulated/simulate-visits.ts";
import { createRecordStore } from "../../src/scan/store/store-records.ts";
import { filesHandler } from "../../src/server/files.ts";
import { listen } from "../../src/server/listen.ts";
import { openMcp } from "../../src/service/roles/open-mcp.ts";
import { openProtocols } from "../../src/service/roles/protocols.ts";
import { plainModel } from "./assistant/plain-model.ts";
import { type Clock, tickingClock } from "./clock.ts";
import { quickFolder } from "./quick-folder.ts";
import { type TestDatabase, testConnections, testDatabase } from "./test-database.ts";
import { type TestGoogle, testGoogle } from "./test-google.ts";
import { watchTransactions } from "./watch-transactions.ts";

export interface ApiOptions {
  /** The database of another `startApi`, to act as a second process on it; a new database when absent. */
  readonly database?: TestDatabase;
  readonly clock?: Clock;
  /** Address of the authorization server whose access tokens count. */
  readonly authUrl?: string;
  /** The services to serve; all when absent. */
  readonly services?: readonly RegisteredService[];
  /** Calls per second; all limits are off when absent. */
  readonly rateLimits?: Partial<PipelineOptions["rateLimits"]>;
  readonly requestTimeoutMs?: number;
  /** Replaces some of the handlers' dependencies. */
  readonly deps?: Partial<TestDeps>;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
  readonly json: any;
}

/** Calls REST. The body is sent as JSON; a string or bytes are sent unchanged. */
export type Rest = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>;

export type RpcProtocol = "grpc" | "grpc-web" | "connect";

export interface TestWorkspace extends CreatedWorkspace {
  /** The access token of the workspace's first secret key. */
  readonly token: string;
  /** Calls with that token. */
  readonly rest: Rest;
  /** A client with that token, over gRPC unless another protocol is named. */
  client<S extends DescService>(service: S, protocol?: RpcProtocol): Client<S>;
}

/** A sandbox with the token that it was made with. */
export interface TestSandbox extends Pick<TestWorkspace, "workspaceId" | "token" | "rest" | "client"> {
  readonly parent: TestWorkspace;
}

export interface Api {
  readonly invoke: Invoke;
  readonly services: readonly RegisteredService[];
  readonly database: TestDatabase;
  readonly db: TestDatabase["db"];
  readonly clock: Clock;
  readonly now: () => Date;
  readonly port: number;
  readonly metrics: Registry;
  readonly storage: Storage;
  readonly tokenBox: TokenBox;
  readonly signToken: ReturnType<typeof createTokenSigner>;
  /** Makes a token of the workspace with exactly these scopes. */
  scopedToken(workspaceId: string, scopes: readonly string[]): Promise<string>;
  readonly flush: OpenPipeline["flush"];
  /** Everything logged so far, one JSON object per line. */
  log(): string;
  readonly google: TestGoogle;
  /** The bugs that the adapters reported. */
  readonly faults: readonly unknown[];
  newWorkspace(): Promise<TestWorkspace>;
  /** Makes a sandbox of the workspace, or of a new one, through the API. */
  newSandbox(parent?: TestWorkspace): Promise<TestSandbox>;
  /** Calls without a token, or with the given one. */
  rest(token?: string): Rest;
  client<S extends DescService>(service: S, token?: string, protocol?: RpcProtocol): Client<S>;
  transport(token: string | undefined, protocol: RpcProtocol): Transport;
}

/** The keys for signing and sealing derive from it. */
export const masterSecret = "the master secret of tests";

/** The real API, on a real port and a real database, until the test file ends. */
export async function startApi(options: ApiOptions = {}): Promise<Api> {
  const database = options.database ?? (await testDatabase());
  const clock = options.clock ?? tickingClock();
  const log = captureLog();
  const metrics = new Registry();
  const storage = await testStorage();
  const google = testGoogle();
  const autonomous = openDatabase({
    connection: database.connection,
    poolSize: 1,
    statementTimeoutMs: 30_000,
    onError: () => {},
  });
  afterAll(autonomous.close);
  const watched = watchTransactions(database.db);
  afterAll(() => expect(watched.idle, "transactions that waited for something else").toEqual([]));
  const pipeline = await openPipeline({
    db: watched.db,
    connections: testConnections,
    connection: database.connection,
    now: clock.now,
    keyFor: (purpose) => deriveKey(masterSecret, purpose),
    baseUrl: "http://api.test",
    authUrl: options.authUrl ?? "http://api.test/auth",
    entitlements: options.deps?.entitlements ?? createEntitlements({ plans: defaultPlans, now: clock.now }),
    mcpUrl: "http://api.test/mcp",
    rateLimits: { token: 0, workspace: 0, publishable: 0, anonymous: 0, ...options.rateLimits },
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    metrics,
    log: log.logger,
    services: (parts) =>
      options.services ??
      createServices({
        ...testDeps(clock.now, storage, autonomous.db, database),
        google,
        ...options.deps,
        ...parts,
      }),
  });
  const faults: unknown[] = [];
  const files = filesHandler({ storage, signingKey: fileKey, now: clock.now, log: log.logger });
  const mcp = openMcp(
    {
      addresses: testAddresses,
      now: clock.now,
      log: log.logger,
      readOrigin: createOriginReader([]),
      storage,
    },
    pipeline,
    testBodies(),
  );
  const port = await serve(pipeline, { files, mcp }, log.logger, faults);
  const signToken = createTokenSigner(deriveKey(masterSecret, "access-tokens"));
  let made = 0;

  const transports = new Map<string, Transport>();

  function client<S extends DescService>(
    service: S,
    token?: string,
    protocol: RpcProtocol = "grpc",
  ): Client<S> {
    return createClient(service, transport(token, protocol));
  }

  /** Keeps one connection per caller and protocol, because the port limits the connections of one address. */
  function transport(token: string | undefined, protocol: RpcProtocol): Transport {
    const caller = `${protocol} ${token}`;
    const open = transports.get(caller) ?? transportTo(port, token, protocol);
    transports.set(caller, open);
    return open;
  }

  async function newWorkspace(): Promise<TestWorkspace> {
    made += 1;
    const created = await createWorkspace(
      { db: database.db, now: clock.now, signToken, hashPassword: hashOfPassword },
      { name: `Workspace ${made}`, email: `admin-${port}-${made}@example.com`, password },
    );
    const token = created.accessToken;
    return {
      ...created,
      token,
      rest: restTo(port, token),
      client: (service, protocol) => client(service, token, protocol),
    };
  }

  return {
    invoke: pipeline.invoke,
    services: pipeline.services,
    database,
    db: database.db,
    clock,
    now: clock.now,
    port,
    metrics,
    storage,
    tokenBox: options.deps?.tokenBox ?? testTokenBox,
    signToken,
    scopedToken: (workspaceId, scopes) => {
      const [issuedAt, scope] = [clock.now(), scopeText(scopes)];
      const tokenId = newId(issuedAt);
      return signToken({ tokenId, workspaceId, keyType: "SECRET", environment: "live", scope, issuedAt });
    },
    flush: pipeline.flush,
    log: log.text,
    google,
    faults,
    newWorkspace,
    async newSandbox(parent) {
      const of = parent ?? (await newWorkspace());
      const { status, json } = await of.rest("POST", "/v1/sandboxes", {});
      expect(status).toBe(200);
      const { accessToken: token, sandbox } = json;
      return {
        parent: of,
        workspaceId: sandbox.id,
        token,
        rest: restTo(port, token),
        client: (service, protocol) => client(service, token, protocol),
      };
    },
    rest: (token) => restTo(port, token),
    client,
    transport,
  };
}

const password = "a password";
let passwordHash: Promise<string> | undefined;

/** All members of test workspaces have one password, which is hashed once. */
function hashOfPassword(): Promise<string> {
  passwordHash ??= hashPassword(password);
  return passwordHash;
}

const fileKey = deriveKey(masterSecret, "file-urls");
const testTokenBox = createTokenBox(deriveKey(masterSecret, "integration-tokens"));

/** A folder for files, removed after the test file. */
async function testStorage(): Promise<Storage> {
  const directory = await quickFolder("signpost-files-");
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return openStorage({ directory, shipped: builtInFiles });
}

type TestDeps = Deps &
  Omit<AgentIdentityDeps, "memberOf"> &
  AssistantDeps &
  DomainDeps &
  GoogleFormsDeps &
  SlackDeps &
  Pick<SandboxesDeps, "simulateVisits">;

/** Stores simulated visits in this thread, with the geography that comes with the service. */
function testSimulator({ db }: TestDatabase): SimulateVisits {
  const reader = lazyReader(undefined);
  let simulating: Promise<SimulateVisits> | undefined;
  const load = async () => {
    const store = createRecordStore(db, { ...(await reader.open()), key: "00".repeat(32) });
    return createVisitSimulator({ db, store: () => store, reader, shortUrl: "https://short.test" });
  };
  return async (order) => {
    simulating ??= load();
    return (await simulating)(order);
  };
}

let toolTable: Promise<FactsOf> | undefined;
function toolFacts(): Promise<FactsOf> {
  toolTable ??= readToolTable();
  return toolTable;
}

/** Asks a name server that nobody runs, so that tests ask none of the system's. */
const resolveLiterals = createHostResolver(["127.0.0.1:9"]);

/** What judges custom domains, with the service's hosts of tests. */
export function testDomains(options: Partial<DomainsOptions>): Domains {
  return openDomains({
    servers: ["127.0.0.1:9"],
    target: "domains.short.test",
    ownHosts: ["api.test", "short.test"],
    key: deriveKey(masterSecret, "domain-ownership"),
    certificates: noCertificates,
    nowMs: () => 0,
    ...options,
  });
}

/** The handlers' dependencies in tests. */
function testDeps(
  now: () => Date,
  storage: Storage,
  autonomousDb: Db,
  database: TestDatabase,
): Omit<TestDeps, "google"> {
  return {
    simulateVisits: testSimulator(database),
    now,
    newShortlink: randomShortlink,
    jobCall,
    jobCalls,
    autonomousDb,
    analytics: referenceAnalytics(now),
    storage,
    pictures: createPictureReader(),
    publicFileUrl: (storageKey) => publicFileUrl(storageKey, "http://api.test"),
    signFileUrl: (storageKey, expiresAt) =>
      signFileUrl(storageKey, { baseUrl: "http://api.test", expiresAt, key: fileKey }),
    shortUrl: "https://short.test",
    approvesEnrollment: false,
    model: plainModel,
    toolFacts,
    isOwnHost: (host) => host === "api.test" || host === "short.test",
    stepPasswordKey: deriveKey(masterSecret, "step-passwords"),
    webhookSecretKey: deriveKey(masterSecret, "webhook-secrets"),
    // Names have no addresses in tests that give them none.
    addressFaultOf: createFaultFinder({ resolve: resolveLiterals, judge: createAddressJudge([]) }),
    oauthStates: createOauthStates(deriveKey(masterSecret, "oauth-states"), now),
    tokenBox: testTokenBox,
    // Without an app nobody can connect. Tests that do give a client of their stand-in.
    // No name server answers in tests that give none.
    domains: testDomains({ nowMs: () => now().getTime() }),
    slack: createSlack({ config: { apiUrl: "http://127.0.0.1:1/api", app: undefined }, returnUrl: "" }),
    bulkJobLinks: 250,
    plans: defaultPlans,
    entitlements: createEntitlements({ plans: defaultPlans, now }),
    baseUrl: "http://api.test",
    signUpUrl: "http://api.test/auth/sign-up",
    qrcodeWaitMs: 50,
    claimTokens: createClaimTokens(deriveKey(masterSecret, "agent-claims")),
    claimGrant,
    passwords: createPasswordGate(),
    verifyFederated: undefined,
    signSession: createSessionSigner(deriveKey(masterSecret, "member-sessions")),
    findPlace: async () => ({ country: "", timezone: "" }),
  };
}

const testAddresses = {
  baseUrl: "http://api.test",
  shortUrl: "https://short.test",
  authUrl: "http://api.test/auth",
  mcpUrl: "http://api.test/mcp",
};

function testBodies() {
  return createBodyBudget({ total: 128 * 1024 * 1024, perAddress: 64 * 1024 * 1024 });
}

async function serve(
  pipeline: OpenPipeline,
  { files, mcp }: { readonly files: ReturnType<typeof filesHandler>; readonly mcp: McpHandler },
  log: pino.Logger,
  faults: unknown[],
): Promise<number> {
  const stopping = new AbortController();
  let requests = 0;
  const { rest, rpc, onStream } = openProtocols({
    limitsOf: pipeline.limitsOf,
    services: pipeline.services,
    invoke: pipeline.invoke,
    readOrigin: createOriginReader([]),
    bodies: testBodies(),
    newRequestId: () => `request-${++requests}`,
    onFault: (error) => faults.push(error),
    ready: async () => true,
    reflection: true,
    pace: pipeline.pace,
    shutdownSignal: stopping.signal,
  });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    handler: (req, res) => {
      if (req.url?.startsWith(filesPath)) return void files(req, res);
      if (req.url?.startsWith("/mcp")) return void mcp(req, res);
      return req.url?.startsWith("/v1") ? rest(req, res) : rpc(req, res);
    },
    onStream,
    log,
  });
  afterAll(async () => {
    stopping.abort();
    await listener.close(0);
    await pipeline.close();
  });
  return listener.port;
}

function captureLog(): { logger: pino.Logger; text: () => string } {
  let text = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { logger: pino({ level: "info" }, stream), text: () => text };
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function restTo(port: number, token: string | undefined): Rest {
  return (method, path, body, headers = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const req = httpRequest({
      agent,
      host: "127.0.0.1",
      port,
      method,
      path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    req.on("error", reject);
    req.on("response", (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json: parse(text) });
      });
    });
    req.end(bytes);
    return promise;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function transportTo(port: number, token: string | undefined, protocol: RpcProtocol): Transport {
  const baseUrl = `http://127.0.0.1:${port}`;
  const authorize: Interceptor = (next) => (req) => {
    if (token !== undefined) req.header.set("authorization", `Bearer ${token}`);
    return next(req);
  };
  const interceptors = [authorize];
  switch (protocol) {
    case "grpc":
      // Node's client ends its other streams when its buffers exceed this, 10 MB by default.
      return createGrpcTransport({ baseUrl, interceptors, nodeOptions: { maxSessionMemory: 256 } });
    case "grpc-web":
      return createGrpcWebTransport({ baseUrl, httpVersion: "2", interceptors });
    case "connect":
      return createConnectTransport({ baseUrl, httpVersion: "2", interceptors });
  }
}
