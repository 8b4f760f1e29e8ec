import http2 from "node:http2";

// Unary calls over plain HTTP/2 streams, with the given concurrency, over a few connections.
interface Task {
  readonly port: number;
  readonly path: string;
  readonly authorization: string;
  readonly sessions: number;
  readonly concurrency: number;
  readonly ms: number;
}

/** An empty message: only its head of five bytes. */
const frame = Buffer.alloc(5);

process.on("message", (task: Task) => {
  run(task).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      throw error;
    },
  );
});
process.on("disconnect", () => process.exit());
process.send?.({ port: 0 });

async function run({ port, path, authorization, sessions: count, concurrency, ms }: Task) {
  const sessions = Array.from({ length: count }, () => http2.connect(`http://127.0.0.1:${port}`));
  const headers = {
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    authorization,
  };
  const startedAt = performance.now();
  let calls = 0;
  const worker = async (session: http2.ClientHttp2Session) => {
    while (performance.now() - startedAt < ms) {
      await call(session, headers);
      calls += 1;
    }
  };
  await Promise.all(
    sessions.flatMap((session) => Array.from({ length: concurrency / count }, () => worker(session))),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  for (const session of sessions) session.close();
  return { calls, seconds };
}

function call(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders): Promise<void> {
  return new Promise((settle, refuse) => {
    const stream = session.request(headers);
    let status: unknown;
    stream.on("trailers", (trailers) => {
      status = trailers["grpc-status"];
    });
    stream.on("error", refuse);
    stream.on("close", () => {
      if (status === "0") settle();
      else refuse(new Error(`the call ended with status ${String(status)}`));
    });
    stream.resume();
    stream.end(frame);
  });
}
