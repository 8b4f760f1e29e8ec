import { type Google, lazyGoogle } from "../../integrations/google-forms/google.ts";
import { oauthReturnUrl } from "./open-slack.ts";
import type { Parts } from "./parts.ts";

/** Google with the operator's client; undefined without one. Nothing is loaded before the first call. */
export function openGoogle({ config, addresses, keyFor }: Parts): Google | undefined {
  if (config.google === undefined) return undefined;
  return lazyGoogle({
    config: config.google,
    returnUrl: oauthReturnUrl(config, addresses),
    verifierKey: keyFor("google-code-verifiers"),
  });
}
