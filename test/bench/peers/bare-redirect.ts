import http from "node:http";
import { announce } from "./announce.ts";

// The upper bound of Node: a 302 from a map, with a Location and nothing recorded.
const { destinations }: { destinations: [string, string][] } = JSON.parse(process.argv[2] ?? "");
const known = new Map(destinations);

const server = http.createServer((req, res) => {
  const url = req.url ?? "";
  const end = url.indexOf("?");
  const destination = known.get(end < 0 ? url : url.slice(0, end));
  if (destination === undefined) res.writeHead(404).end();
  else res.writeHead(302, { location: destination }).end();
});
announce(server);
