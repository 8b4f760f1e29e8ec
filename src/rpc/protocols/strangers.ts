import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { AddressCount } from "../../lib/limits/address-count.ts";

/** The address of the client of a call that needs no token, after trusted proxies. */
export const clientAddressKey = createContextKey("0.0.0.0", { description: "address of the client" });

/** Counts a stream while it is open; refuses it when the address has too many. */
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
