import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll } from "vitest";
import type { MemberRole } from "../../gen/database.ts";
import { agentMetadata, answerClaimGrant, claimGrantType } from "../../src/auth/agent-endpoints.ts";
import type { AuthDeps } from "../../src/auth/deps.ts";
import { authHandler } from "../../src/auth/handler.ts";
import { enqueue } from "../../src/jobs/queue.ts";
import { createOriginReader } from "../../src/lib/client-address.ts";
import { newId } from "../../src/lib/ids.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import type { QueuedJobs } from "../../src/model/jobs.ts";
import { resourcesAt } from "../../src/oauth/resources.ts";
import { createOauthServer, type OauthDeps } from "../../src/oauth/server.ts";
import { createSigningKeys } from "../../src/oauth/signing-keys.ts";
import {
  challengeCode,
  challengeLink,
  type challengePages,
  makeChallenge,
} from "../../src/people/challenges.ts";
import { createPasswordGate, hashPassword, verifyPassword } from "../../src/people/passwords.ts";
import { createSessionSigner, createSessionVerifier } from "../../src/people/sessions.ts";
import { errorBody, httpStatusOf } from "../../src/rest/error-body.ts";
import { apiScopes } from "../../src/rpc/access.ts";
import { roleGrants } from "../../src/rpc/pipeline/credentials/grants.ts";
import { toCallError } from "../../src/rpc/pipeline/failure.ts";
import { lazyReader } from "../../src/scan/device/request-reader.ts";
import { connectionOf } from "../../src/server/connection.ts";
import { listen } from "../../src/server/listen.ts";
import { memberJson } from "../../src/service/roles/member-json.ts";
import { scopeDescriptions } from "../../src/service/roles/sign-in.ts";
import { testAgents } from "./agents.ts";
import { type Clock, tickingClock } from "./clock.ts";
import { masterSecret } from "./start-api.ts";
import { type TestDatabase, testDatabase } from "./test-database.ts";

export const memberPassword = "correct horse battery";
let hashed: Promise<string> | undefined;

export interface SignInOptions {
  /** The database of another process of the service; a new one when absent. */
  readonly database?: TestDatabase;
  readonly clock?: Clock;
  readonly deps?: Partial<AuthDeps>;
  readonly oauth?: Partial<OauthDeps>;
}

export interface TestMember {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly email: string;
}

/** The real sign-in pages on a real port and database, until the test file ends. Clients stand behind a proxy that is trusted. */
export async function startSignIn({
  database,
  clock = tickingClock(),
  deps = {},
  oauth = {},
}: SignInOptions = {}) {
  const own = database ?? (await testDatabase());
  const { db } = own;
  const counts = { verified: 0, hashed: 0 };
  let log = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log += chunk.toString();
      done();
    },
  });
  const challengeKey = deriveKey(masterSecret, "member-challenges");
  const sessionKey = deriveKey(masterSecret, "member-sessions");
  const agents = testAgents({ db, now: clock.now });
  const readOrigin = createOriginReader(["127.0.0.1"]);
  const reader = lazyReader(undefined);
  let handler: ReturnType<typeof authHandler> | undefined;
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    handler: (req, res) => void handler?.(req, res),
    log: pino({ level: "silent" }),
  });
  afterAll(() => listener.close(0));
  const { port } = listener;
  // Passkeys belong to host names, and an IP address is none.
  const authUrl = `http://localhost:${port}/auth`;
  handler = authHandler({
    db,
    now: clock.now,
    log: pino({ level: "info" }, stream),
    authUrl,
    challengeKey,
    formKey: deriveKey(masterSecret, "sign-in-forms"),
    signSession: createSessionSigner(sessionKey),
    verifySession: createSessionVerifier(sessionKey),
    passwords: createPasswordGate({
      hash(password) {
        counts.hashed += 1;
        return hashPassword(password);
      },
      verify(hash, password) {
        counts.verified += 1;
        return verifyPassword(hash, password);
      },
    }),
    queueMail: (tx, mail) => enqueue(tx, "send-mail", mail),
    queueJob: enqueue,
    findPlace: async (address) => (await reader.open()).geography.placeOf(address),
    allowsSignUp: false,
    agents,
    oauth: createOauthServer({
      ...{ db, now: clock.now, issuer: authUrl, resources: resourcesAt("http://api.test") },
      keys: createSigningKeys({
        ...{ db, now: clock.now, sealingKey: deriveKey(masterSecret, "oauth-signing-keys") },
      }),
      secretKey: deriveKey(masterSecret, "oauth-secrets"),
      scopes: apiScopes,
      usualScopes: roleGrants.TECH.scopes,
      scopesOf: (role) => roleGrants[role].scopes,
      fetchDocument: async () => undefined,
      ...{
        otherGrants: new Map([[claimGrantType, answerClaimGrant({ db, now: clock.now, ...agents })]]),
        metadata: agentMetadata({ authUrl, baseUrl: "http://api.test" }),
        onRevoked: () => {},
      },
      ...oauth,
    }),
    scopeDescriptions,
    onRevoked: () => {},
    onMemberChanged: () => {},
    secondsToWait: () => undefined,
    memberJson,
    toCallError,
    errorAnswer: (error) => ({ status: httpStatusOf(error), body: errorBody(error) }),
    originOf: (req) => readOrigin(connectionOf(req)),
    ...deps,
  });

  /** Makes a member with `memberPassword`, in a workspace of its own unless one is given. */
  async function newMember(
    change: { readonly role?: MemberRole; readonly isPending?: boolean; readonly enforceMfa?: boolean } = {},
  ): Promise<TestMember> {
    const at = clock.now();
    const [workspaceId, memberId] = [newId(at), newId(at)];
    const email = `${memberId}@example.com`;
    hashed ??= hashPassword(memberPassword);
    const times = { created_at: at, updated_at: at };
    await db
      .insertInto("workspaces")
      .values({
        ...{ id: workspaceId, name: "Ada & <Co>", link_setting_id: newId(at), ...times },
        enforce_mfa: change.enforceMfa ?? false,
      })
      .execute();
    await db
      .insertInto("members")
      .values({
        ...{ workspace_id: workspaceId, id: memberId, email, role: change.role ?? "ADMIN", ...times },
        password_hash: change.isPending === true ? null : await hashed,
      })
      .execute();
    await db
      .insertInto("member_emails")
      .values({ email, workspace_id: workspaceId, member_id: memberId })
      .execute();
    return { workspaceId, memberId, email };
  }

  /** The payloads of queued jobs of a kind with a text that begins with this one, such as an address. */
  async function queued<Task extends keyof QueuedJobs>(
    task: Task,
    text: string,
  ): Promise<QueuedJobs[Task][]> {
    const { rows } = await own.pool.query<{ payload: QueuedJobs[Task] }>(
      `select job.payload from graphile_worker._private_jobs job
       join graphile_worker._private_tasks task on task.id = job.task_id
       where task.identifier = $1 and strpos(job.payload::text, $2) > 0 order by job.id`,
      [task, `"${text}`],
    );
    return rows.map(({ payload }) => payload);
  }

  /** The code of the newest mail to a member. */
  async function mailedCode({ email }: TestMember): Promise<string> {
    const mail = (await queued("send-mail", email)).filter(({ kind }) => kind === "sign-in-code").at(-1);
    return challengeCode(challengeKey, JSON.parse(mail?.facts ?? "{}").challengeId);
  }

  /** The path of a mailed link, below the port. */
  async function linkPath(member: TestMember, kind: keyof typeof challengePages): Promise<string> {
    const challengeId = await makeChallenge(db, member, { kind, at: clock.now() });
    const { workspaceId } = member;
    const link = new URL(challengeLink({ key: challengeKey, authUrl }, kind, { workspaceId, challengeId }));
    return link.pathname + link.search;
  }

  return {
    agents,
    authUrl,
    database: own,
    db,
    clock,
    port,
    counts,
    log: () => log,
    newMember,
    queued,
    mailedCode,
    linkPath,
  };
}

export type SignInServer = Awaited<ReturnType<typeof startSignIn>>;

export interface Page {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The path of the redirect. */
  readonly to: string | undefined;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let addresses = 0;

/** A browser with cookies and an address of its own, as far as forms need one. */
export function openTestBrowser(
  port: number,
  address = `198.51.${100 + (++addresses >> 8)}.${addresses & 255}`,
) {
  const cookies = new Map<string, string>();
  const origin = `http://127.0.0.1:${port}`;
  let formToken = "";

  function send(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const { promise, resolve, reject } = Promise.withResolvers<Page>();
    const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const req = httpRequest({
      ...{ agent, host: "127.0.0.1", port, method, path },
      headers: { "x-forwarded-for": address, ...(jar === "" ? {} : { cookie: jar }), ...headers },
    });
    req.on("error", reject);
    req.on("response", (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        for (const cookie of res.headers["set-cookie"] ?? []) keep(cookie);
        formToken = /name="form" value="([^"]*)"/.exec(text)?.[1] ?? formToken;
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, to: res.headers.location });
      });
    });
    req.end(body);
    return promise;
  }

  function keep(cookie: string): void {
    const [pair = "", ...terms] = cookie.split("; ");
    const mark = pair.indexOf("=");
    const [name, value] = [pair.slice(0, mark), pair.slice(mark + 1)];
    if (terms.includes("Max-Age=0")) cookies.delete(name);
    else cookies.set(name, value);
  }

  const formHeaders = { "content-type": "application/x-www-form-urlencoded", origin };
  return {
    cookies,
    address,
    send,
    open: (path: string) => send("GET", path),
    /** Sends a form as a page of ours does, with the token of the page that was opened last. */
    submit: (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      send("POST", path, new URLSearchParams({ form: formToken, ...fields }).toString(), {
        ...formHeaders,
        ...headers,
      }),
    /** Opens the sign-in page and sends it. */
    async signIn(email: string, password: string): Promise<Page> {
      await this.open("/auth/sign-in");
      return this.submit("/auth/sign-in", { email, password });
    },
    json: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(
        method,
        path,
        body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
        {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      ),
  };
}
