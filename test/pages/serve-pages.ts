import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fontsPath } from "../../gen/fonts.ts";
import type { HostedPage } from "../../src/pages/page.ts";
import { fontsHandler } from "../../src/server/fonts.ts";

/** Serves pages on a socket, and records what was posted to them. */
export interface PageServer {
  readonly origin: string;
  /** Shows a page at an address of its own. */
  readonly put: (page: HostedPage, options?: { readonly withoutPolicy: boolean }) => string;
  /** Sends a page up to a place, and the rest when told to. */
  readonly putInHalves: (page: HostedPage, place: number) => { readonly address: string; finish(): void };
  /** The addresses and bodies of all posts, in order. */
  readonly posted: { readonly url: string; readonly fields: URLSearchParams }[];
  /** The redirect target of an answer. */
  answerTo: string;
  readonly close: () => void;
}

interface ServedPage {
  readonly page: HostedPage;
  readonly withoutPolicy: boolean;
  readonly halves?: { readonly place: number; readonly finished: Promise<void> };
}

const pixel = Buffer.from("R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=", "base64");

/** Serves pages as the service does, and an image of one pixel at every other address. */
export async function servePages(): Promise<PageServer> {
  const fonts = fontsHandler();
  const pages = new Map<string, ServedPage>();
  const posted: PageServer["posted"] = [];
  const server = createServer(async (req, res) => {
    if (req.method === "POST") {
      posted.push({ url: req.url ?? "", fields: new URLSearchParams(await bodyOf(req)) });
      res.writeHead(302, { Location: pageServer.answerTo }).end();
      return;
    }
    if (req.url?.startsWith(fontsPath)) return fonts(req, res);
    const shown = pages.get(req.url ?? "");
    if (shown === undefined) {
      res.writeHead(200, { "Content-Type": "image/gif" }).end(pixel);
      return;
    }
    const { page, withoutPolicy, halves } = shown;
    const headers = ["Content-Type", "text/html; charset=utf-8"];
    for (let index = 0; index < page.headers.length; index += 2) {
      const [name = "", value = ""] = page.headers.slice(index, index + 2);
      if (!withoutPolicy || name !== "Content-Security-Policy") headers.push(name, value);
    }
    res.writeHead(page.status, headers);
    if (halves !== undefined) {
      res.write(page.body.subarray(0, halves.place));
      await halves.finished;
      res.end(page.body.subarray(halves.place));
    } else res.end(page.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pageServer: PageServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server has no other kind
    put(page, { withoutPolicy } = { withoutPolicy: false }) {
      const path = `/page-${pages.size}`;
      pages.set(path, { page, withoutPolicy });
      return `${pageServer.origin}${path}`;
    },
    putInHalves(page, place) {
      const path = `/page-${pages.size}`;
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      pages.set(path, { page, withoutPolicy: false, halves: { place, finished } });
      return { address: `${pageServer.origin}${path}`, finish: () => finish() };
    },
    posted,
    answerTo: "/",
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return pageServer;
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
