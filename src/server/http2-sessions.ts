import http2 from "node:http2";
import type { Socket } from "node:net";
import type { Limits } from "./limits.ts";

/** Takes a stream and returns true if the stream is meant for it; all other streams become requests. */
export type OnStream = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => boolean;

/** The HTTP/2 side of a port. It does not listen itself: the port hands sockets to it. */
export interface Http2Sessions {
  accept(socket: Socket): void;
  /** Refuses new requests, lets running ones end, and closes each connection with its last one. */
  drain(): void;
  /** Ends connections and streams that are over their time; to be called at intervals. */
  check(): void;
}

interface Session {
  readonly streams: Map<http2.ServerHttp2Stream, number>;
  idleSince: number;
  controlFrames: number;
}

const mebibyte = 1024 * 1024;

/**
 * Speaks HTTP/2 within the limits. node:http2 itself limits the frames that it counts. This module limits PING and
 * SETTINGS frames, idle connections, and streams that never end.
 */
export function createHttp2Sessions(
  limits: Limits,
  onStream: (...stream: [http2.ServerHttp2Stream, http2.IncomingHttpHeaders, string[]]) => void,
): Http2Sessions {
  const sessions = new Map<http2.ServerHttp2Session, Session>();
  const server = createServer(limits);

  server.on("session", (session) => {
    const state: Session = { streams: new Map(), idleSince: performance.now(), controlFrames: 0 };
    sessions.set(session, state);
    session.setLocalWindowSize(2 * mebibyte);
    session.on("close", () => sessions.delete(session));
    const countControlFrame = () => {
      state.controlFrames += 1;
      if (state.controlFrames > limits.controlFrames) end(session, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    session.on("ping", countControlFrame);
    session.on("remoteSettings", countControlFrame);
    session.on("stream", (stream, headers, _flags, rawHeaders) => {
      state.controlFrames = 0;
      state.streams.set(stream, performance.now());
      stream.on("error", () => {});
      stream.on("close", () => {
        state.streams.delete(stream);
        state.idleSince = performance.now();
      });
      if (sizeOf(rawHeaders) > limits.headerBytes) stream.respond({ ":status": 431 }, { endStream: true });
      else onStream(stream, headers, rawHeaders);
    });
  });

  return {
    accept: (socket) => {
      server.emit("connection", socket);
    },
    drain: () => {
      for (const session of sessions.keys()) session.close();
    },
    check: () => {
      const now = performance.now();
      for (const [session, { streams, idleSince }] of sessions) {
        if (streams.size === 0 && now - idleSince > limits.idleMs)
          end(session, http2.constants.NGHTTP2_NO_ERROR);
        for (const [stream, since] of streams) {
          if (now - since > limits.requestMs) stream.close(http2.constants.NGHTTP2_CANCEL);
        }
      }
    },
  };
}

function createServer(limits: Limits): http2.Http2Server {
  const server = http2.createServer({
    settings: {
      maxConcurrentStreams: limits.streams,
      maxHeaderListSize: limits.headerBytes,
      // With 64 KiB, the default, an upload of some megabytes from afar waits for many round trips.
      initialWindowSize: mebibyte,
    },
    maxHeaderListPairs: limits.headerCount,
    maxSessionInvalidFrames: limits.invalidFrames,
    maxSessionRejectedStreams: limits.invalidFrames,
    maxSessionMemory: 64,
    maxSettings: 16,
    streamResetBurst: limits.resetBurst,
    streamResetRate: limits.resetsPerSecond,
  });
  // node:http2 has already ended the session when a client breaks the protocol; there is nothing left to do.
  return server.on("sessionError", () => {});
}

// The limit in the settings only asks the client to comply; node:http2 stops a client that ignores it at 64 KiB. Each
// field counts 32 bytes more than its text (RFC 9113, 6.5.2).
function sizeOf(rawHeaders: readonly string[]): number {
  let size = rawHeaders.length * 16;
  for (const text of rawHeaders) size += text.length;
  return size;
}

// Ends the session with an error code, without waiting for the client's consent.
function end(session: http2.ServerHttp2Session, code: number): void {
  if (!session.destroyed) session.destroy(undefined, code);
}
