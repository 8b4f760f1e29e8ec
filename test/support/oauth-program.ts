import { createHash } from "node:crypto";
import type { openTestBrowser, Page, SignInServer } from "./start-sign-in.ts";

type Browser = ReturnType<typeof openTestBrowser>;
type Texts = Readonly<Record<string, string>>;

export const verifier = "a-verifier-of-a-program-in-tests-that-is-long-enough";
export const challenge = createHash("sha256").update(verifier).digest("base64url");
export const callback = "https://program.example/callback";

let addresses = 0;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
  readonly json: any;
}

/** A program without a secret, with an address of its own. It asks one process of the authorization server, or a named one. */
export function openProgram(server: Pick<SignInServer, "port">) {
  const address = `203.0.113.${++addresses}`;

  async function ask(path: string, body: string, headers: Texts, port: number): Promise<Answer> {
    const answer = await fetch(`http://127.0.0.1:${port}/auth/oauth2/${path}`, {
      method: "POST",
      headers: { "x-forwarded-for": address, ...headers },
      body,
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      json: text === "" ? undefined : JSON.parse(text),
    };
  }

  return {
    address,
    register: (
      metadata: unknown = { redirect_uris: [callback], token_endpoint_auth_method: "none" },
      from = server,
    ) => ask("reg", JSON.stringify(metadata), { "content-type": "application/json" }, from.port),
    /** Sends a form to an endpoint. */
    post: (path: "token" | "revoke", fields: Texts, { from = server, headers = {} as Texts } = {}) =>
      ask(
        path,
        new URLSearchParams(fields).toString(),
        { "content-type": "application/x-www-form-urlencoded", ...headers },
        from.port,
      ),
  };
}

/** The path at which a program asks a member, with everything right unless it is changed; undefined leaves a field out. */
export function requestPath(
  clientId: string,
  change: Readonly<Record<string, string | undefined>> = {},
): string {
  const fields = {
    client_id: clientId,
    redirect_uri: callback,
    response_type: "code",
    state: "a state",
    code_challenge: challenge,
    code_challenge_method: "S256",
    scope: "links:write webhooks:read",
    ...change,
  };
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) given.set(name, value);
  return `/auth/oauth2/auth?${given}`;
}

/** What the form of a page sends: hidden fields, and every box that is checked. */
export function fieldsOf(
  { text }: Page,
  { without = [] }: { readonly without?: readonly string[] } = {},
): Record<string, string> {
  const [form = ""] = /<form class="answers"[\s\S]*?<\/form>/.exec(text) ?? [];
  const inputs = [...form.matchAll(/<input type="(?:hidden|checkbox)" name="([^"]*)" value="([^"]*)"/g)];
  const fields = inputs.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")] as const);
  return Object.fromEntries(fields.filter(([name]) => !without.includes(name)));
}

/** Opens a request as a member who is signed in, and allows it. Returns where the browser is sent. */
export async function allow(browser: Browser, path: string, without: readonly string[] = []): Promise<URL> {
  const page = await browser.open(path);
  const sent = await browser.submit("/auth/oauth2/auth", fieldsOf(page, { without }));
  return new URL(sent.to ?? `http://none.test/${sent.status}`);
}
