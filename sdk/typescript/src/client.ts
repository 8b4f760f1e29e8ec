import type { DescService } from "@bufbuild/protobuf";
import {
  type CallOptions,
  createClient as createServiceClient,
  type Client as ServiceClient,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import * as services from "./generated/services.js";
import { type RetryOptions, wait, withRetries } from "./retry.ts";

// The package has this one entry, so it re-exports everything public.
export { type ErrorCode, type FieldViolation, SignpostError } from "./error.ts";
export { items, type Page, pages } from "./paging.ts";
export {
  verifyWebhook,
  type WebhookHeaders,
  type WebhookMessage,
  WebhookVerificationError,
} from "./webhook.ts";

/** A client with a property for every service, named without `Service`: `client.links`, `client.workflowSteps`. */
export type Client = { readonly [Name in keyof typeof services]: ServiceClient<(typeof services)[Name]> };

/** Settings other than address and token. */
export interface ClientOptions extends Partial<RetryOptions> {
  /** Sends requests instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Connects to the service at `baseUrl` with a workspace token, a member's session or an OAuth grant. Without a token
 * only the open calls work. Calls have 60 seconds and 4 tries unless the options say otherwise.
 */
export function createClient(baseUrl: string, token = "", options: ClientOptions = {}): Client {
  const { fetch = globalThis.fetch, ...retries } = options;
  const transport = withRetries(createConnectTransport({ baseUrl, fetch, useBinaryFormat: true }), token, {
    timeoutMs: 60_000,
    attemptsMax: 4,
    wait,
    ...retries,
  });
  const entries = Object.entries<DescService>(services).map(([name, service]) => [
    name,
    createServiceClient(service, transport),
  ]);
  // The entries match those of `services` one to one.
  return Object.fromEntries(entries) as Client;
}

/**
 * Options that give a call an idempotency key: repeated calls with the key, from any process, take effect once within
 * 24 hours. Without it every call has a key of its own, which covers its retries.
 */
export function withIdempotencyKey(key: string, options: CallOptions = {}): CallOptions {
  const headers = new Headers(options.headers);
  headers.set("Idempotency-Key", key);
  return { ...options, headers };
}
