/** Why a request to a customer's address got no answer. */
export type FailureCause =
  | "no-host"
  | "unreachable"
  | "tls"
  | "time-out"
  | "closed"
  | "not-http"
  | "proxy"
  | "failed";

const causes: readonly (readonly [RegExp, FailureCause])[] = [
  [/^(?:ENOTFOUND|ENODATA|EAI_\w{1,20})$/, "no-host"],
  [/^(?:UND_ERR_\w{1,20}_TIMEOUT|ETIMEDOUT)$/, "time-out"],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EADDRNOTAVAIL)$/, "unreachable"],
  [/^(?:CERT_|ERR_TLS|ERR_SSL|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/, "tls"],
  [/^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_INFO)$/, "closed"],
  [/^UND_ERR_(?:HEADERS_OVERFLOW|RES_)/, "not-http"],
  [/^PROXY_FAILED$/, "proxy"],
];

/** Names the cause of an error of undici, of TLS or of a socket, by its code. */
export function causeOf(error: Error & { readonly code?: unknown }): FailureCause {
  // Tries of several addresses fail together; the first of them tells why.
  const [first = error] = error instanceof AggregateError ? error.errors : [error];
  if (first?.name === "HTTPParserError") return "not-http";
  const code = String(first?.code ?? "");
  return causes.find(([pattern]) => pattern.test(code))?.[1] ?? "failed";
}
