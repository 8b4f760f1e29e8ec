import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A way to a database that can be cut, as a network is. */
export interface CutOff {
  /** The same database, by this way. */
  readonly url: string;
  /** Breaks every connection, and lets none through. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Opens a way to the database of a URL. The caller has to cut it in the end. */
export async function cutOff(databaseUrl: string): Promise<CutOff> {
  const url = new URL(databaseUrl);
  const host = decodeURIComponent(url.hostname);
  const port = Number(url.port || 5432);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A cut connection raises an error on both sides, which is expected here.
    socket.on("error", () => {});
  };
  const open = async (at: number) => {
    server = createServer((near) => {
      const far = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
      for (const socket of [near, far]) keep(socket);
      near.pipe(far).pipe(near);
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
    });
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port; // a TCP server has no other kind
  };
  const own = await open(0);
  url.host = `127.0.0.1:${own}`;
  return {
    url: url.href,
    async cut() {
      server?.close();
      for (const socket of sockets) socket.destroy();
      if (server?.listening === true) await once(server, "close");
    },
    async mend() {
      await open(own);
    },
  };
}
