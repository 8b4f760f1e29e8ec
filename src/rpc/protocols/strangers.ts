import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { AddressCount } from "../../lib/limits/address-count.ts";

/** Where a call that needs no token comes from, after trusted proxies. */
export const clientAddressKey = createContextKey("0.0.0.0", { description: "address of the client" });

/** Counts a stream for as long as it is open, or refuses it. */
export async function* counted<Answer>(
  streams: AddressCount,
  { values }: Pick<HandlerContext, "values">,
  answers: () => AsyncIterable<Answer>,
): AsyncGenerator<Answer> {
  const leave = streams.enter(values.get(clientAddressKey));
  if (leave === undefined) throw new ConnectError("too many streams at once", Code.ResourceExhausted);
  try {
    yield* answers();
  } finally {
    leave();
  }
}
