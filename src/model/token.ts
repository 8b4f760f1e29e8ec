/** Secret tokens have scopes; publishable ones have none and may only identify visitors. */
export type TokenKeyType = "SECRET" | "PUBLISHABLE";

/** Tokens of sandboxes carry a prefix, so that people see the difference. */
export type TokenEnvironment = "live" | "test";

/** What a workspace token says about itself; it is signed, not encrypted. */
export interface TokenClaims {
  readonly tokenId: string;
  readonly workspaceId: string;
  readonly keyType: TokenKeyType;
  readonly environment: TokenEnvironment;
  /** What it was granted at its creation: `scopeText`, or `everyScope` for full access; empty for publishable tokens. */
  readonly scope: string;
  /** Whole seconds count. */
  readonly issuedAt: Date;
  /** Never expires when absent. */
  readonly expiresAt?: Date;
}

/** Signs a token: the text that callers send as `Authorization: Bearer`. */
export type SignToken = (claims: TokenClaims) => Promise<string>;

/** What stands before the JWT of a sandbox's token. */
export const sandboxPrefix = "svc_test_";

/** The name of a token nobody named. */
export const defaultTokenName = "API token";
