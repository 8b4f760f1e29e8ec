/** Secret tokens have scopes. Publishable tokens have none and may only identify visitors. */
export type TokenKeyType = "SECRET" | "PUBLISHABLE";

/** Tokens of sandboxes carry a prefix, so that people see the difference. */
export type TokenEnvironment = "live" | "test";

/** What a workspace token says about itself. It is signed, not encrypted. */
export interface TokenClaims {
  readonly tokenId: string;
  readonly workspaceId: string;
  readonly keyType: TokenKeyType;
  readonly environment: TokenEnvironment;
  /**
   * What the token was granted when it was made: `scopeText`, or `everyScope` for full access. Empty for publishable
   * tokens.
   */
  readonly scope: string;
  /** Only whole seconds are kept. */
  readonly issuedAt: Date;
  /** Absent for a token that never expires. */
  readonly expiresAt?: Date;
}

/** Signs a token: the text that callers send as `Authorization: Bearer`. */
export type SignToken = (claims: TokenClaims) => Promise<string>;

/** What stands before the JWT of a sandbox's token. */
export const sandboxPrefix = "svc_test_";

/** The name of a token that was made without one. */
export const defaultTokenName = "API token";
