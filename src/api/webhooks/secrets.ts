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

interface SealedSecrets extends Owner {
  readonly secret: Uint8Array;
  readonly previous_secret: Uint8Array | null;
  readonly previous_secret_until: Date | null;
}

/**
 * Returns the secrets that sign at a time: the present one, and the previous one as long as it signs along. Those that
 * another master secret sealed are missing. Each is unsealed once, when it is first needed.
 */
export function secretOpener(key: Uint8Array, row: SealedSecrets): (at: Date) => readonly Buffer[] {
  const { secret, previous_secret: previous, previous_secret_until: until } = row;
  let present: readonly Buffer[] | undefined;
  let both: readonly Buffer[] | undefined;

  function open(sealed: Uint8Array): readonly Buffer[] {
    try {
      return [unseal(sealed, key, boundTo(row))];
    } catch {
      return [];
    }
  }

  return (at) => {
    present ??= open(secret);
    if (previous === null || until === null || until <= at) return present;
    both ??= [...present, ...open(previous)];
    return both;
  };
}
