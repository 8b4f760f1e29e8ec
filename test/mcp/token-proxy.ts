import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** Passes requests on with an access token, for programs that cannot be given one. Their own token and foreign hosts stay. */
export async function startTokenProxy(servicePort: number, accessToken: string) {
  const server = createServer((req, res) => {
    const { port } = server.address() as AddressInfo;
    const host = req.headers.host?.replace(`:${port}`, `:${servicePort}`);
    const origin = req.headers.origin?.replace(`:${port}`, `:${servicePort}`);
    const headers = {
      authorization: `Bearer ${accessToken}`,
      ...req.headers,
      ...(host === undefined ? {} : { host }),
      ...(origin === undefined ? {} : { origin }),
    };
    const { method, url: path } = req;
    const passed = request({ host: "127.0.0.1", port: servicePort, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    passed.on("error", () => res.destroy());
    req.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}/mcp`, close: () => server.close() };
}
