/** What the first message of a TLS client says about what it wants. */
export interface ClientHello {
  /** The host name, in lower case and without a final dot; undefined when the client names none. */
  readonly name: string | undefined;
  /** Whether the client wants to see the answer to a challenge, and nothing else. */
  readonly isChallenge: boolean;
}

/** The most bytes of a first message that are read. Those of today's browsers have two thousand. */
export const helloBytesMax = 16 * 1024;
/** How many records the message may come in. */
const recordsMax = 8;

const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;
const protocolsExtension = 16;
/** International names arrive in ASCII. */
const nameForm = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,126}$/;

/**
 * Reads the first message of a TLS client (RFC 8446, 4.1.2) as far as a port needs it to choose a certificate. Gives
 * `more` while the message has not arrived, and `refused` when these are no bytes of such a client.
 */
export function readClientHello(bytes: Buffer): ClientHello | "more" | "refused" {
  const message = messageIn(bytes);
  if (typeof message === "string") return message;
  try {
    return readMessage(message);
  } catch (error) {
    // Reading beyond the end of the message.
    if (error instanceof RangeError) return "refused";
    throw error;
  }
}

/** Puts the message together from its records. */
function messageIn(bytes: Buffer): Buffer | "more" | "refused" {
  const parts: Buffer[] = [];
  let length = 0;
  for (let at = 0, records = 0; records < recordsMax; records++) {
    if (bytes.length > at && bytes[at] !== handshakeRecord) return "refused";
    if (bytes.length < at + 5) return "more";
    const size = bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] !== 3 || size === 0 || at + 5 + size > helloBytesMax) return "refused";
    if (bytes.length < at + 5 + size) return "more";
    parts.push(bytes.subarray(at + 5, at + 5 + size));
    length += size;
    at += 5 + size;
    const message = parts.length === 1 ? (parts[0] ?? bytes) : Buffer.concat(parts, length);
    if (message[0] !== clientHello) return "refused";
    if (length < 4) continue;
    const wanted = 4 + message.readUIntBE(1, 3);
    if (wanted > helloBytesMax) return "refused";
    if (length >= wanted) return message.subarray(4, wanted);
  }
  return "refused";
}

function readMessage(message: Buffer): ClientHello | "refused" {
  // Version and random.
  let at = 34;
  // Session id, cipher suites, compression methods.
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  let name: string | undefined;
  let isChallenge = false;
  if (at === message.length) return { name, isChallenge };
  const end = at + 2 + message.readUInt16BE(at);
  if (end !== message.length) return "refused";
  for (at += 2; at < end; ) {
    const type = message.readUInt16BE(at);
    const size = message.readUInt16BE(at + 2);
    if (at + 4 + size > end) return "refused";
    const content = message.subarray(at + 4, at + 4 + size);
    at += 4 + size;
    if (type === serverNameExtension) {
      name = nameIn(content);
      if (name === undefined) return "refused";
    } else if (type === protocolsExtension) isChallenge = isChallengeIn(content);
  }
  return { name, isChallenge };
}

/** The host in a list of names, which has one (RFC 6066, 3); undefined when it has another form. */
function nameIn(content: Buffer): string | undefined {
  const size = content.readUInt16BE(3);
  if (content[2] !== 0 || size !== content.length - 5 || content.readUInt16BE(0) !== size + 3 || size > 254)
    return undefined;
  const name = content.toString("latin1", 5).toLowerCase().replace(/\.$/, "");
  return name.length <= 253 && nameForm.test(name) ? name : undefined;
}

/** A client that asks for a challenge's certificate offers that protocol only (RFC 8737, 3). */
function isChallengeIn(content: Buffer): boolean {
  return (
    content.length === 13 && content.readUInt8(2) === 10 && content.toString("latin1", 3) === "acme-tls/1"
  );
}
