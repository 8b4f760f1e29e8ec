import http from "node:http";
import { announce } from "./announce.ts";

// Accepts every message and looks at none.
const server = http.createServer((req, res) => {
  req.resume();
  req.on("end", () => res.writeHead(204).end());
});
announce(server);
