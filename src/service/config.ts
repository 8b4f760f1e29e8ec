import { Resolver } from "node:dns";
import { resolve } from "node:path";
import type { ModelConfig } from "../assistant/open-model.ts";
import type { AcmeConfig } from "../certificates/acme-config.ts";
import type { GoogleConfig } from "../integrations/google-forms/google-config.ts";
import type { SlackConfig } from "../integrations/slack/slack-config.ts";
import { createAddressList } from "../lib/client-address.ts";
import { withoutEndSlashes } from "../lib/end-slashes.ts";
import type { ProxySettings } from "../lib/fetch/proxies.ts";
import type { S3Config } from "../lib/storage/storage-s3.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import type { FederatedConfig } from "../people/federated.ts";
import { readPlansFile } from "./plans-file.ts";

export type Role = "api" | "scan" | "worker";

/** Every setting of the environment, read and checked once. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Public address of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** Public address of short links, without a slash at the end. */
  readonly shortUrl: string;
  /** Address of the sign-in pages and the authorization server. */
  readonly authUrl: string;
  /** Address of the tools for models. */
  readonly mcpUrl: string;
  /** The host to which custom domains lead. */
  readonly domainsHost: string;
  /** The name servers that are asked about custom domains, such as `9.9.9.9`; those of the system when empty. */
  readonly dnsServers: readonly string[];
  /** Whether strangers may make workspaces. */
  readonly allowsSignUp: boolean;
  /** Whether agents may make workspaces that people claim. */
  readonly registersAgents: boolean;
  /** The project at Firebase with which people sign in by Google or Microsoft; nobody can when undefined. */
  readonly federated: FederatedConfig | undefined;
  /** The folder of the embedded database, the spool, files and the first credentials. */
  readonly dataDir: string;
  /** PostgreSQL to use instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  readonly roles: ReadonlySet<Role>;
  /** Master secret; made and kept in `dataDir` when unset with the embedded database. */
  readonly secret: string | undefined;
  /** Addresses and networks of proxies whose X-Forwarded-* headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Private networks that customers' webhooks may reach all the same. */
  readonly allowedPrivateNetworks: readonly string[];
  /** The proxies for requests to addresses of customers. */
  readonly proxies: ProxySettings;
  /** Where `/metrics` is served; nowhere when undefined. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** How long browsers should contact https addresses over TLS only, in seconds; 0 sends no such header. */
  readonly strictTransportSeconds: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** The authorities that sign certificates; undefined when nobody is asked. */
  readonly acme: AcmeConfig | undefined;
  /** The port that answers challenges in cleartext, and leads everybody else to TLS. */
  readonly httpPort: number | undefined;
  readonly s3: S3Config | undefined;
  readonly mail: {
    /** The mail server, such as `smtps://user:password@mail.example.com`; mails are kept in `dataDir` when undefined. */
    readonly smtpUrl: string | undefined;
    readonly from: { readonly name: string; readonly address: string };
  };
  /**
   * The page to which Slack and Google send the browser of somebody who allowed a connection, with `code` and `state`; a
   * page of the documentation when undefined.
   */
  readonly oauthReturnUrl: string | undefined;
  readonly slack: SlackConfig;
  /** The client at Google that reads forms; nobody can connect an account when undefined. */
  readonly google: GoogleConfig | undefined;
  /** The language model behind the assistant; there is no assistant when undefined. */
  readonly model: ModelConfig | undefined;
  /** Path of a city database in MaxMind's format; without it only countries are known. */
  readonly cityDatabase: string | undefined;
  readonly logLevel: string;
  /** How long a call may run before it is answered with DEADLINE_EXCEEDED, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** How long running requests may take to end after SIGTERM, in milliseconds. */
  readonly drainTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** How many links a job creates at most. */
  readonly bulkJobLinks: number;
  /** How much the analytics keep in memory, in bytes: columns of visits, and once more what they know of workspaces. */
  readonly analyticsCacheBytes: number;
  readonly databasePoolSize: number;
  /** The number of database connections reserved for visitors, which no load of the API touches. */
  readonly databaseScanPoolSize: number;
  /** The limits of request bodies in memory, in bytes: of all clients together, and of one address. */
  readonly bodies: { readonly total: number; readonly perAddress: number };
  /** Calls per second; 0 switches a limit off. Bursts are twice as high. */
  readonly rateLimits: {
    readonly token: number;
    /** The limit of all secret tokens of a workspace together. */
    readonly workspace: number;
    readonly publishable: number;
    readonly anonymous: number;
  };
  /** Whether gRPC server reflection is served. */
  readonly reflection: boolean;
  readonly plans: PlanTable;
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Reads the environment. Throws one error that names every wrong variable and how to mend it. */
export function readConfig(env: EnvironmentVariables): Config {
  const problems: string[] = [];
  const port = integer(env, "PORT", 8080, { min: 0, max: 65_535 }, problems);
  const baseUrl = address(env, "BASE_URL", `http://localhost:${port}`, problems);
  const databaseUrl = text(env, "DATABASE_URL");
  const secret = text(env, "SECRET");
  if (databaseUrl !== undefined && secret === undefined) {
    problems.push(
      "SECRET: required with DATABASE_URL, the same on every process; `openssl rand -base64 32` makes one",
    );
  }
  if (secret !== undefined && secret.length < 16) problems.push("SECRET: at least 16 characters");
  const tokenLimit = integer(env, "RATE_LIMIT_TOKEN", 100, { min: 0 }, problems);
  const config: Config = {
    port,
    host: text(env, "HOST") ?? "127.0.0.1",
    baseUrl,
    shortUrl: address(env, "SHORT_URL", baseUrl, problems),
    authUrl: authAddress(env, baseUrl, problems),
    mcpUrl: mcpAddress(env, baseUrl, problems),
    domainsHost: hostName(
      env,
      "DOMAINS_HOST",
      `domains.${hostOf(text(env, "SHORT_URL") ?? baseUrl)}`,
      problems,
    ),
    dnsServers: dnsServers(env, problems),
    allowsSignUp: oneOf(env, "SIGN_UP", ["on", "off"], "off", problems) === "on",
    registersAgents: oneOf(env, "AGENT_REGISTRATION", ["on", "off"], "on", problems) === "on",
    federated: federated(env, problems),
    dataDir: resolve(text(env, "DATA_DIR") ?? "data"),
    databaseUrl,
    roles: roles(env, problems),
    secret,
    trustedProxies: networks(env, "TRUSTED_PROXIES", problems),
    allowedPrivateNetworks: networks(env, "ALLOWED_PRIVATE_NETWORKS", problems),
    proxies: {
      https: proxy(env, "HTTPS_PROXY", problems),
      http: proxy(env, "HTTP_PROXY", problems),
      except: list(env, env.NO_PROXY === undefined ? "no_proxy" : "NO_PROXY"),
    },
    metrics: metrics(env, problems),
    strictTransportSeconds: integer(env, "HSTS_MAX_AGE", 15_552_000, { min: 0 }, problems),
    tls: tls(env, problems),
    acme: acme(env, problems),
    httpPort: httpPort(env, problems),
    s3: s3(env, problems),
    mail: {
      smtpUrl: smtpUrl(env, problems),
      from: mailFrom(env, `Signpost <signpost@${hostOf(baseUrl)}>`, problems),
    },
    oauthReturnUrl:
      text(env, "OAUTH_RETURN_URL") === undefined
        ? undefined
        : address(env, "OAUTH_RETURN_URL", "", problems),
    slack: slack(env, problems),
    google: google(env, problems),
    model: model(env, problems),
    cityDatabase: text(env, "GEO_CITY_DATABASE"),
    logLevel: oneOf(env, "LOG_LEVEL", logLevels, "info", problems),
    requestTimeoutMs: integer(env, "REQUEST_TIMEOUT_MS", 30_000, { min: 100 }, problems),
    drainTimeoutMs: integer(env, "DRAIN_TIMEOUT_MS", 10_000, { min: 0 }, problems),
    maxConnections: integer(env, "MAX_CONNECTIONS", 10_000, { min: 1 }, problems),
    maxConnectionsPerAddress: integer(env, "MAX_CONNECTIONS_PER_ADDRESS", 1_000, { min: 1 }, problems),
    bulkJobLinks: integer(env, "BULK_JOB_LINKS_MAX", 250, { min: 1, max: 10_000 }, problems),
    analyticsCacheBytes: mebibyte * integer(env, "ANALYTICS_CACHE_MB", 96, { min: 8 }, problems),
    databasePoolSize: integer(env, "DATABASE_POOL_SIZE", 10, { min: 2 }, problems),
    databaseScanPoolSize: integer(env, "DATABASE_SCAN_POOL_SIZE", 6, { min: 3 }, problems),
    bodies: {
      // While large bodies hold their share of the total, the largest body that a method takes must still fit.
      total: mebibyte * integer(env, "MAX_BODIES_MB", 128, { min: 96 }, problems),
      perAddress: mebibyte * integer(env, "MAX_BODIES_MB_PER_ADDRESS", 32, { min: 1 }, problems),
    },
    rateLimits: {
      token: tokenLimit,
      workspace: integer(env, "RATE_LIMIT_WORKSPACE", 4 * tokenLimit, { min: 0 }, problems),
      publishable: integer(env, "RATE_LIMIT_PUBLISHABLE", 10, { min: 0 }, problems),
      anonymous: integer(env, "RATE_LIMIT_ANONYMOUS", 5, { min: 0 }, problems),
    },
    reflection: oneOf(env, "REFLECTION", ["on", "off"], "on", problems) === "on",
    plans: readPlansFile(
      text(env, "PLANS_FILE"),
      oneOf(env, "PLANS", ["on", "off"], "off", problems) === "on",
      problems,
    ),
  };
  if (problems.length > 0) throw new Error(`wrong configuration:\n  ${problems.join("\n  ")}`);
  return Object.freeze(config);
}

const mebibyte = 1024 * 1024;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const allRoles: readonly Role[] = ["api", "scan", "worker"];

function text(env: EnvironmentVariables, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

function list(env: EnvironmentVariables, name: string): string[] {
  return (text(env, name) ?? "").split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));
}

function networks(env: EnvironmentVariables, name: string, problems: string[]): string[] {
  const entries = list(env, name);
  return entries.filter((entry) => {
    try {
      createAddressList([entry]);
      return true;
    } catch {
      problems.push(`${name}: networks such as 10.1.0.0/16, not "${entry}"`);
      return false;
    }
  });
}

/** Programs read these variables in capitals or in small letters. The value is not repeated: it may hold a password. */
function proxy(env: EnvironmentVariables, name: string, problems: string[]): URL | undefined {
  const value = text(env, name) ?? text(env, name.toLowerCase());
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  problems.push(`${name}: an address such as http://proxy.example.com:3128`);
  return undefined;
}

function integer(
  env: EnvironmentVariables,
  name: string,
  fallback: number,
  { min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number },
  problems: string[],
): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  problems.push(
    `${name}: a whole number from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ""}, not "${value}"`,
  );
  return fallback;
}

function oneOf(
  env: EnvironmentVariables,
  name: string,
  values: readonly string[],
  fallback: string,
  problems: string[],
): string {
  const value = text(env, name) ?? fallback;
  if (!values.includes(value)) problems.push(`${name}: one of ${values.join(", ")}, not "${value}"`);
  return value;
}

function address(env: EnvironmentVariables, name: string, fallback: string, problems: string[]): string {
  const value = text(env, name) ?? fallback;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    problems.push(`${name}: an address such as https://example.com, not "${value}"`);
  }
  return withoutEndSlashes(value);
}

/** The sign-in pages take every path below their address, so they cannot stand at the root of another part's host. */
function authAddress(env: EnvironmentVariables, baseUrl: string, problems: string[]): string {
  const authUrl = address(env, "AUTH_URL", `${baseUrl}/auth`, problems);
  const others = [baseUrl, text(env, "SHORT_URL") ?? baseUrl].filter((other) => URL.canParse(other));
  if (!URL.canParse(authUrl) || new URL(authUrl).pathname !== "/") return authUrl;
  if (others.some((other) => new URL(other).host === new URL(authUrl).host))
    problems.push(`AUTH_URL: a host of its own, or a path such as ${baseUrl}/auth`);
  return authUrl;
}

/** The tools take the one path of their address, which on another part's host must not be that part's own. */
function mcpAddress(env: EnvironmentVariables, baseUrl: string, problems: string[]): string {
  const mcpUrl = address(env, "MCP_URL", `${baseUrl}/mcp`, problems);
  const others = [baseUrl, text(env, "SHORT_URL") ?? baseUrl].filter((other) => URL.canParse(other));
  if (!URL.canParse(mcpUrl) || mcpUrl === `${baseUrl}/mcp`) return mcpUrl;
  if (others.some((other) => new URL(other).host === new URL(mcpUrl).host))
    problems.push(`MCP_URL: a host of its own, or ${baseUrl}/mcp`);
  return mcpUrl;
}

function roles(env: EnvironmentVariables, problems: string[]): ReadonlySet<Role> {
  const names = list(env, "ROLES");
  const known = allRoles.filter((role) => names.includes(role));
  for (const name of names) {
    if (!allRoles.some((role) => role === name))
      problems.push(`ROLES: any of ${allRoles.join(", ")}, not "${name}"`);
  }
  return new Set(names.length === 0 ? allRoles : known);
}

function metrics(env: EnvironmentVariables, problems: string[]): Config["metrics"] {
  if (text(env, "METRICS_PORT") === undefined) return undefined;
  const port = integer(env, "METRICS_PORT", 0, { min: 0, max: 65_535 }, problems);
  return { host: text(env, "METRICS_HOST") ?? "127.0.0.1", port };
}

function tls(env: EnvironmentVariables, problems: string[]): Config["tls"] {
  const certFile = text(env, "TLS_CERT");
  const keyFile = text(env, "TLS_KEY");
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile !== undefined || keyFile !== undefined)
    problems.push("TLS_CERT and TLS_KEY: both or neither, as file names");
  return undefined;
}

function acme(env: EnvironmentVariables, problems: string[]): AcmeConfig | undefined {
  const names = ["ACME_DIRECTORY", "ACME_DIRECTORY_2"].filter((name) => text(env, name) !== undefined);
  if (names.length === 0) return undefined;
  const directories = names.map((name) => {
    const value = text(env, name) ?? "";
    if (!value.startsWith("https://") || !URL.canParse(value))
      problems.push(`${name}: an address such as https://acme.example.com/directory, not "${value}"`);
    return value;
  });
  if (names[0] !== "ACME_DIRECTORY") problems.push("ACME_DIRECTORY: required with ACME_DIRECTORY_2");
  return { directories, email: text(env, "ACME_EMAIL"), profile: text(env, "ACME_PROFILE") };
}

function httpPort(env: EnvironmentVariables, problems: string[]): number | undefined {
  if (text(env, "HTTP_PORT") === undefined) return undefined;
  if (text(env, "ACME_DIRECTORY") === undefined && text(env, "TLS_CERT") === undefined)
    problems.push("HTTP_PORT: only where PORT speaks TLS, by ACME_DIRECTORY or by TLS_CERT and TLS_KEY");
  return integer(env, "HTTP_PORT", 0, { min: 0, max: 65_535 }, problems);
}

function smtpUrl(env: EnvironmentVariables, problems: string[]): string | undefined {
  const value = text(env, "SMTP_URL");
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // The value is not repeated, because it may hold a password.
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === "")
    problems.push("SMTP_URL: an address such as smtps://user:password@mail.example.com");
  return value;
}

function mailFrom(env: EnvironmentVariables, fallback: string, problems: string[]): Config["mail"]["from"] {
  const value = text(env, "MAIL_FROM") ?? fallback;
  const [, name = "", inBrackets, alone] =
    /^(?:([^<>"\p{Cc}]*)<([^\s<>@]+@[^\s<>@]+)>|([^\s<>@]+@[^\s<>@]+))$/u.exec(value) ?? [];
  const address = inBrackets ?? alone;
  if (address === undefined)
    problems.push(`MAIL_FROM: an address such as Signpost <signpost@example.com>, not "${value}"`);
  return { name: name.trim(), address: address ?? "" };
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : "localhost";
}

function federated(env: EnvironmentVariables, problems: string[]): FederatedConfig | undefined {
  const published =
    "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com";
  const keysUrl = address(env, "FIREBASE_KEYS_URL", published, problems);
  const projectId = text(env, "FIREBASE_PROJECT_ID");
  if (projectId === undefined) return undefined;
  if (!/^[a-z0-9-]{4,60}$/.test(projectId))
    problems.push(`FIREBASE_PROJECT_ID: the id of a project, such as my-project-1a2b, not "${projectId}"`);
  return { projectId, keysUrl };
}

function hostName(env: EnvironmentVariables, name: string, fallback: string, problems: string[]): string {
  const value = (text(env, name) ?? fallback).toLowerCase();
  if (!/^[a-z0-9.-]{1,253}$/.test(value))
    problems.push(`${name}: a host such as domains.example.com, not "${value}"`);
  return value;
}

function dnsServers(env: EnvironmentVariables, problems: string[]): string[] {
  const servers = list(env, "DNS_SERVERS");
  try {
    new Resolver().setServers(servers);
  } catch {
    problems.push(`DNS_SERVERS: addresses such as 9.9.9.9,149.112.112.112, not "${servers.join(",")}"`);
  }
  return servers;
}

function slack(env: EnvironmentVariables, problems: string[]): SlackConfig {
  const apiUrl = address(env, "SLACK_API_URL", "https://slack.com/api", problems);
  const clientId = text(env, "SLACK_CLIENT_ID");
  const clientSecret = text(env, "SLACK_CLIENT_SECRET");
  if (clientId !== undefined && clientSecret !== undefined)
    return { apiUrl, app: { clientId, clientSecret } };
  if (clientId !== undefined || clientSecret !== undefined)
    problems.push(
      "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET: both or neither, as Slack shows them for the app",
    );
  return { apiUrl, app: undefined };
}

function google(env: EnvironmentVariables, problems: string[]): GoogleConfig | undefined {
  const clientId = text(env, "GOOGLE_CLIENT_ID");
  const clientSecret = text(env, "GOOGLE_CLIENT_SECRET");
  const urls = {
    accountsUrl: address(env, "GOOGLE_ACCOUNTS_URL", "https://accounts.google.com", problems),
    oauthUrl: address(env, "GOOGLE_OAUTH_URL", "https://oauth2.googleapis.com", problems),
    formsUrl: address(env, "GOOGLE_FORMS_URL", "https://forms.googleapis.com", problems),
  };
  if (clientId !== undefined && clientSecret !== undefined) return { ...urls, clientId, clientSecret };
  if (clientId !== undefined || clientSecret !== undefined)
    problems.push(
      "GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET: both or neither, as the client's page at Google shows them",
    );
  return undefined;
}

function model(env: EnvironmentVariables, problems: string[]): ModelConfig | undefined {
  const name = text(env, "LLM_MODEL");
  const apiKey = text(env, "LLM_API_KEY");
  if (text(env, "LLM_BASE_URL") !== undefined && name !== undefined)
    return { baseUrl: address(env, "LLM_BASE_URL", "", problems), name, apiKey };
  if (text(env, "LLM_BASE_URL") !== undefined || name !== undefined || apiKey !== undefined)
    problems.push("LLM_BASE_URL and LLM_MODEL: both, such as https://api.openai.com/v1 and gpt-5-mini");
  return undefined;
}

function s3(env: EnvironmentVariables, problems: string[]): S3Config | undefined {
  const bucket = text(env, "S3_BUCKET");
  if (bucket === undefined) return undefined;
  const accessKeyId = text(env, "S3_ACCESS_KEY_ID");
  const secretAccessKey = text(env, "S3_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    problems.push("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: required with S3_BUCKET");
  }
  return {
    endpoint: address(env, "S3_ENDPOINT", "https://s3.amazonaws.com", problems),
    bucket,
    region: text(env, "S3_REGION") ?? "us-east-1",
    accessKeyId: accessKeyId ?? "",
    secretAccessKey: secretAccessKey ?? "",
  };
}
