import { seal, unseal } from "../../lib/sealed.ts";
import { newWebhookSecret, webhookSecretText } from "../../lib/standard-webhooks.ts";

/** Whose secret it is. */
interface Owner {
  readonly workspace_id: string;
  readonly id: string;
}

const boundTo = ({ workspace_id, id }: Owner): string => `webhook ${workspace_id}/${id}`;

/** Makes a secret: the text that is shown once, and what is kept. */
export function makeSecret(
  key: Uint8Array,
  owner: Owner,
): { readonly text: string; readonly sealed: Buffer } {
  const secret = newWebhookSecret();
  return { text: webhookSecretText(secret), sealed: seal(secret, key, boundTo(owner)) };
}

/**
 * The secrets that sign now: the present one, and the previous one as long as it signs along. Those that another master
 * secret sealed are missing.
 */
export function openSecrets(
  key: Uint8Array,
  row: Owner & {
    readonly secret: Uint8Array;
    readonly previous_secret: Uint8Array | null;
    readonly previous_secret_until: Date | null;
  },
  at: Date,
): Buffer[] {
  const { secret, previous_secret: previous, previous_secret_until: until } = row;
  const sealed = previous !== null && until !== null && until > at ? [secret, previous] : [secret];
  return sealed.flatMap((each) => {
    try {
      return unseal(each, key, boundTo(row));
    } catch {
      return [];
    }
  });
}
