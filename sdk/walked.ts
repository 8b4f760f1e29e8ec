import { setTimeout as pause } from "node:timers/promises";
import { registeredServices } from "../build/registered-services.ts";
import type { StartedService } from "./service.ts";

/** What the operations answer that need an account at Google, a team at Slack or a program let in, which no journey has. */
const refusals: Readonly<Record<string, string>> = {
  "signpost.v1.GoogleFormsIntegrationsService/CompleteOAuth": "INVALID_ARGUMENT",
  "signpost.v1.GoogleFormsIntegrationsService/Delete": "NOT_FOUND",
  "signpost.v1.GoogleFormsIntegrationsService/GetOAuthURL": "FAILED_PRECONDITION",
  "signpost.v1.GoogleFormsIntegrationsService/SyncNow": "NOT_FOUND",
  "signpost.v1.GoogleFormsIntegrationsService/Update": "NOT_FOUND",
  "signpost.v1.GrantsService/Revoke": "NOT_FOUND",
  "signpost.v1.SlackIntegrationsService/CompleteOAuth": "INVALID_ARGUMENT",
  "signpost.v1.SlackIntegrationsService/Delete": "NOT_FOUND",
  "signpost.v1.SlackIntegrationsService/GetOAuthURL": "FAILED_PRECONDITION",
  "signpost.v1.SlackIntegrationsService/JoinChannel": "NOT_FOUND",
  "signpost.v1.SlackIntegrationsService/ListChannels": "NOT_FOUND",
  "signpost.v1.SlackIntegrationsService/Test": "NOT_FOUND",
  "signpost.v1.SlackIntegrationsService/Update": "NOT_FOUND",
};

/**
 * Waits until the service's log shows that every built operation has answered as it should, and says how many there are.
 * Throws an Error that names the operations which the client has left out.
 */
export async function untilWalked(client: string, { takeAnswers }: StartedService): Promise<number> {
  const wanted = registeredServices().flatMap(({ service, unbuilt }) =>
    service.methods
      .filter(({ localName, methodKind }) => methodKind === "unary" && !unbuilt.has(localName))
      .map(({ name }) => `${service.typeName}/${name}`)
      .map((operation) => `${operation} ${refusals[operation] ?? "OK"}`),
  );
  const missing = new Set(wanted);
  const end = Date.now() + 5_000;
  // The last lines of the log come a little after the last answers.
  for (;;) {
    for (const answer of takeAnswers()) missing.delete(answer);
    if (missing.size === 0) return wanted.length;
    if (Date.now() > end) throw new Error(`${client}: the journey leaves out ${[...missing].join(", ")}`);
    await pause(50);
  }
}
