import type { Server } from "node:net";

/** Listens on a free port of loopback, tells the parent its number, and ends with the parent. */
export function announce(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the server listens on no port");
    process.send?.({ port: address.port });
  });
  process.on("disconnect", () => process.exit());
}
