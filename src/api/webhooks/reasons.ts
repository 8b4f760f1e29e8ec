import type { FailureCause } from "../../lib/fetch/fetch-failure.ts";
import { addressFaults } from "../../lib/fetch/read-address.ts";
import type { FetchOutcome } from "../../lib/fetch/safe-fetch.ts";

/** What a customer can do about a request without an answer. */
const failures: Readonly<Record<FailureCause, string>> = {
  "no-host": "The host of endpointUrl has no address: check its name, or its DNS records.",
  unreachable:
    "Nothing accepts connections at endpointUrl: check that the receiver runs and its firewall lets us in.",
  tls: "The certificate at endpointUrl is not valid for its host: renew it, or send the intermediate certificates along.",
  "time-out":
    "The receiver took longer than 15 seconds: answer 200 first, and work on the message afterwards.",
  closed:
    "The receiver closed the connection before it answered: look for a crash or a proxy in front of it.",
  "not-http": "The receiver answered something that is no HTTP: check the port of endpointUrl.",
  proxy: "The operator's proxy did not let the message out: ask the operator of this service.",
  failed: "The connection to the receiver failed: it is tried again.",
};

/** What a customer can do about an answer that is no success, by its status. */
const statuses: Readonly<Record<number, string>> = {
  400: "it did not accept the message: compare what it expects with the documentation of webhooks",
  401: "it wants a login: verify the signature of messages instead, or put the login into the path of endpointUrl",
  403: "it refused the message: check its firewall, and that it verifies with the present signing secret",
  404: "it has nothing there: check the path of endpointUrl",
  405: "it takes no POST there: check the path of endpointUrl",
  408: "it waited too long for the message: look at its load",
  410: "it wants no more messages, so the webhook was disabled: set status to WEBHOOK_STATUS_ACTIVE to begin again",
  413: "it takes no messages of this size: raise its limit",
  429: "it is asked too often: the message waits as long as its Retry-After says",
  503: "it is not available at the moment: the message waits as long as its Retry-After says",
};

/** Why an attempt failed and what to do about it, as one sentence without anything that visitors typed. */
export function failureReason(outcome: FetchOutcome): string {
  if (outcome.kind === "failed") return failures[outcome.cause];
  if (outcome.kind === "refused") return `Nothing was sent: endpointUrl ${addressFaults[outcome.fault]}.`;
  const { status } = outcome;
  return `The receiver answered ${status}: ${statuses[status] ?? ofKind(status)}.`;
}

function ofKind(status: number): string {
  if (status < 400) return "redirects are not followed; set endpointUrl to the address it leads to";
  return status < 500
    ? "it refused the message; any status from 200 to 299 accepts one"
    : "it failed on the message; look for the error in its log";
}
