import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** The encoding of a body, as `Content-Encoding` names it. */
export type Encoding = "br" | "gzip" | "identity";

const brotli = promisify(brotliCompress);

/** Medium effort: the highest takes seconds for a few megabytes and saves only a tenth. */
const encoders: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: promisify(gzip),
  identity: async (bytes) => bytes,
};

/** Encodes bytes, on a thread of its own. */
export function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoders[encoding](bytes);
}

/** The shortest encoding that a client accepts, as its `Accept-Encoding` says (RFC 9110, 12.5.3). */
export function acceptedEncoding(header: string | undefined): Encoding {
  const weights = new Map<string, number>();
  for (const item of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  const takes = (name: string) => (weights.get(name) ?? weights.get("*") ?? 0) > 0;
  if (takes("br")) return "br";
  return takes("gzip") ? "gzip" : "identity";
}
