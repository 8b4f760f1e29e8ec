import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a database that can be cut, as a network is. */
export interface CutOff {
  /** The same database, by this way. */
  readonly url: string;
  /** Breaks every connection, and lets none through. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Opens a way to the database of a URL. The caller has to close it in the end. */
export async function cutOff(databaseUrl: string): Promise<CutOff> {
  const url = new URL(databaseUrl);
  const host = decodeURIComponent(url.hostname);
  const port = Number(url.port || 5432);
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A cut connection raises an error on both sides, which is expected here.
    socket.on("error", () => {});
  };
  // The server goes on listening while the way is cut: another program could get a port that is free, and would be
  // taken for the database.
  const server = createServer((near) => {
    keep(near);
    if (isCut) return void near.destroy();
    const far = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    keep(far);
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = server.address() as AddressInfo; // a TCP server has no other kind
  url.host = `127.0.0.1:${own.port}`;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut,
    mend() {
      isCut = false;
    },
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
