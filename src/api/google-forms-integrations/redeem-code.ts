import type { Google, GoogleGrant } from "../../integrations/google-forms/google.ts";
import { GoogleFault } from "../../integrations/google-forms/google-fault.ts";
import { invalid } from "../../lib/errors.ts";
import { noAnswer, tooManyRequests } from "./refusals.ts";

/** Redeems the code of an authorization, and refuses the call in its caller's terms. */
export async function redeemCode(google: Google, code: string, state: string): Promise<GoogleGrant> {
  try {
    return await google.redeem(code, state);
  } catch (error) {
    if (!(error instanceof GoogleFault)) throw error;
    switch (error.kind) {
      case "grant":
        throw refused("is refused by Google: it was used before, is too old, or belongs to another state");
      case "refused":
        throw refused("does not allow to read forms and their responses: leave both boxes ticked at Google");
      case "quota":
        throw tooManyRequests(error.retryAfterSeconds);
      case "away":
        throw noAnswer();
    }
  }
}

function refused(fault: string) {
  const description = `${fault}; ask for a new authorization address and begin again`;
  return invalid([{ field: "code", description }], "INVALID_STATE");
}
