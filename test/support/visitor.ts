import { type IncomingHttpHeaders, request } from "node:http";

/** One answer to a visitor, without following redirects. */
export interface VisitorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The path and query, or the address, of a redirect; empty without one. */
  readonly location: string;
}

/** A simulated browser. It keeps cookies, and posts forms as a page would. */
export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<VisitorAnswer>;
  head(path: string): Promise<VisitorAnswer>;
  /** Posts a form from a page of the same host. */
  post(
    path: string,
    fields?: Readonly<Record<string, string | readonly string[]>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<VisitorAnswer>;
  /** Opens a page, following the service's own redirects (303) to its page; stops at any other. */
  open(path: string): Promise<VisitorAnswer & { readonly path: string }>;
  readonly cookies: Map<string, string>;
}

const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

/** A visitor of a service on this machine, with a phone unless the headers say otherwise. */
export function newVisitor(port: number, always: Readonly<Record<string, string>> = {}): Visitor {
  const cookies = new Map<string, string>();

  function send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<VisitorAnswer> {
    return new Promise((resolve, reject) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const sent = request({
        port,
        host: "127.0.0.1",
        method,
        path,
        agent: false,
        headers: {
          "user-agent": iphone,
          "accept-language": "en",
          ...(cookie === "" ? {} : { cookie }),
          ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
          ...always,
          ...headers,
        },
      });
      sent.on("error", reject);
      sent.on("response", (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("error", reject);
        res.on("end", () => {
          for (const line of res.headers["set-cookie"] ?? []) {
            const [pair = ""] = line.split(";", 1);
            cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
          }
          const { statusCode: status = 0, headers: answered } = res;
          const text = Buffer.concat(chunks).toString();
          resolve({ status, headers: answered, body: text, location: answered.location ?? "" });
        });
      });
      sent.end(body);
    });
  }

  const visitor: Visitor = {
    cookies,
    get: (path, headers = {}) => send("GET", path, headers),
    head: (path) => send("HEAD", path, {}),
    post(path, fields = {}, headers = {}) {
      const form = new URLSearchParams();
      for (const [name, value] of Object.entries(fields))
        for (const one of [value].flat()) form.append(name, one);
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const origin = { origin: `http://127.0.0.1:${port}` };
      return send("POST", path, { ...type, ...origin, ...headers }, String(form));
    },
    async open(path) {
      let at = path;
      for (let hops = 0; hops < 10; hops++) {
        const answer = await visitor.get(at);
        if (answer.status !== 303) return { ...answer, path: at };
        at = answer.location;
      }
      throw new Error(`${path} goes in a circle`);
    },
  };
  return visitor;
}

/** The address of a page's form: the path of its step with the visit's lbid. */
export function formAction({ body }: Pick<VisitorAnswer, "body">): string {
  const action = /<form[^>]* action="([^"]+)"/.exec(body)?.[1];
  if (action === undefined) throw new Error(`no form in ${body.slice(0, 500)}`);
  return action.replaceAll("&amp;", "&");
}

/** The address of a step without the seal, as known to somebody who has only the visit's lbid. */
export function withoutSeal(address: string): string {
  return address.replace(/&visit=[\w-]*/, "");
}
