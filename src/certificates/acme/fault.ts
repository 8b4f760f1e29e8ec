/**
 * Why an authority gave no certificate. `away`: it did not answer as one. `limited`: it asks for patience. `refused`: it
 * said no to this order. `account`: it does not know the account, or knows it no more.
 */
export type FaultKind = "away" | "limited" | "refused" | "account";

/** An authority's refusal, or its silence. The message is a sentence for the owner of the name. */
export class AcmeFault extends Error {
  readonly kind: FaultKind;
  /** What the problem is called (RFC 8555, 6.7), without its prefix; empty without a problem document. */
  readonly problem: string;
  /** How long the authority asks everybody to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: FaultKind,
    message: string,
    details: {
      readonly problem?: string;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.problem = details.problem ?? "";
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Takes the refusal of a request that only the account can be to blame for as the account's. */
export async function accountsFault<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof AcmeFault) || error.problem !== "unauthorized") throw error;
    throw new AcmeFault("account", error.message, { problem: error.problem, cause: error });
  }
}
