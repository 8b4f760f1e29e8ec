import { readFile } from "node:fs/promises";
import { faces, fontsPath } from "../../gen/fonts.ts";
import type { HttpAnswer, HttpRequest } from "./http.ts";

const files: ReadonlySet<string> = new Set(
  Object.values(faces).flatMap((styles) =>
    Object.values(styles).flatMap((face) => Object.values(face.files)),
  ),
);

/**
 * Serves the fonts of pages, which come with the service. A name holds the hash of its file, so browsers keep a file for
 * good. There are only a few, and those that were asked for stay in memory.
 */
export function fontsHandler(): (req: HttpRequest, res: HttpAnswer) => Promise<void> {
  const known = new Map<string, Promise<Buffer>>();
  const read = (name: string) => {
    const reading = known.get(name) ?? readFile(new URL(`../../vendor/fonts/${name}`, import.meta.url));
    known.set(name, reading);
    reading.catch(() => known.delete(name));
    return reading;
  };

  return async (req, res) => {
    const [path = ""] = (req.url ?? "").split("?", 1);
    const name = path.slice(fontsPath.length);
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (!isRead || !files.has(name)) {
      const headers = { "cache-control": "no-store", "content-length": 0 };
      res.writeHead(isRead ? 404 : 405, isRead ? headers : { ...headers, allow: "GET, HEAD" });
      res.end();
      return;
    }
    const bytes = await read(name);
    res.writeHead(200, {
      "content-type": "font/woff2",
      "content-length": bytes.length,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    if (req.method === "HEAD") res.end();
    else res.end(bytes);
  };
}
