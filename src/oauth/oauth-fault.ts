/** A refusal that programs get as JSON, in the form of OAuth (RFC 6749, 5.2). */
export interface OauthFault extends Error {
  readonly oauthError: string;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
}

export interface FaultAnswer {
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

/** Makes a refusal. The description is for developers, and says what to do. */
export function oauthFault(
  oauthError: string,
  description: string,
  { status = 400, retryAfterSeconds }: FaultAnswer = {},
): OauthFault {
  return Object.assign(new Error(description), { oauthError, status, retryAfterSeconds });
}

export function isOauthFault(thrown: unknown): thrown is OauthFault {
  return thrown instanceof Error && "oauthError" in thrown;
}
