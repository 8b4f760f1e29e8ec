/** What one client may hold or use before the server cuts it off. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Open sockets of all clients; further ones are closed at once. */
  readonly connections: number;
  /** Open sockets of one address: an IPv4 one, or the /64 network of an IPv6 one. */
  readonly connectionsPerAddress: number;
  /**
   * From the connection, or the first byte of a later request, to the end of the headers; also limits the TLS handshake
   * and the HTTP/2 preface.
   */
  readonly headersMs: number;
  /** From the first byte of a request to the end of its body; over HTTP/2 to the end of the answer. */
  readonly requestMs: number;
  /** How long a connection may be without a running request. */
  readonly idleMs: number;
  /** How often the limits above are checked. */
  readonly checkMs: number;
  readonly headerBytes: number;
  readonly headerCount: number;
  /** Running requests of one HTTP/2 connection. */
  readonly streams: number;
  /** How many RST_STREAM frames one connection may send at once; the field below adds more each second. */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
  /** How many PING and SETTINGS frames one connection may send between two requests. */
  readonly controlFrames: number;
  /** How many frames that break the protocol without ending the connection one connection may send. */
  readonly invalidFrames: number;
}

export const defaultLimits: Limits = {
  connections: 10_000,
  connectionsPerAddress: 1_000,
  headersMs: 10_000,
  requestMs: 120_000,
  idleMs: 75_000,
  checkMs: 1_000,
  headerBytes: 16 * 1024,
  headerCount: 100,
  streams: 250,
  resetBurst: 500,
  resetsPerSecond: 100,
  controlFrames: 1_000,
  invalidFrames: 100,
};
