import { invalid } from "../../lib/errors.ts";
import { addressFaults } from "../../lib/fetch/read-address.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";

/**
 * Refuses an address to which messages would not be sent. It asks name servers, so it is called outside of transactions.
 * Sandboxes may use http.
 */
export async function checkEndpoint(
  { addressFaultOf }: Pick<Deps, "addressFaultOf">,
  endpointUrl: string,
  context: Context,
): Promise<void> {
  const fault = await addressFaultOf(endpointUrl, { cleartext: callerOf(context).sandbox });
  if (fault !== undefined)
    throw invalid([{ field: "endpointUrl", description: addressFaults[fault] }], "INVALID_ENDPOINT_URL");
}
