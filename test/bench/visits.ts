import type { ServiceProcess } from "./service-process.ts";

const linkCount = 100;
const deviceCount = 10_000;

/** The paths of the links that `createLinks` makes, with their destinations. */
export const destinations: readonly (readonly [path: string, destination: string])[] = Array.from(
  { length: linkCount },
  (_, index) => [`/visited-${index}`, `https://example.com/landing/${index}`],
);

/** Makes the links of `destinations`. */
export async function createLinks(service: ServiceProcess): Promise<void> {
  for (const [path, destination] of destinations)
    await post(service, "/v1/links", { destination, shortlink: path.slice(1) });
}

type Api = Pick<ServiceProcess, "port" | "credentials">;

/** Posts JSON to the API and returns its answer. Throws unless the call succeeds. */
export function post<Answer>(api: Api, path: string, body: object): Promise<Answer> {
  return call(api, "POST", path, body);
}

/** Calls the API, with or without JSON, and returns its answer. Throws unless the call succeeds. */
export async function call<Answer>(
  { port, credentials }: Api,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { "content-type": "application/json", authorization: `Bearer ${credentials.accessToken}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  // The caller knows the operation's answer type.
  return JSON.parse(text) as Answer;
}

const languages = ["en-GB,en;q=0.9", "de-DE,de;q=0.9", "fr-FR,fr;q=0.8", "es-MX,es;q=0.9", "ja-JP"];

/**
 * Requests as phones and browsers send them: 100 links, those of `destinations` or others, and 10,000 devices that
 * differ in user agent and language.
 */
export function visitRequests(port: number, paths = destinations.map(([path]) => path)): string[] {
  return Array.from({ length: deviceCount }, (_, device) => {
    const path = paths[device % paths.length];
    return getRequest(port, `${path}${device % 2 === 0 ? "?qr" : ""}`, {
      "User-Agent": userAgent(Math.floor(device / languages.length)),
      Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "Accept-Language": languages[device % languages.length] ?? "",
      "Accept-Encoding": "gzip, deflate, br",
      // The device is told by its cookie alone.
      Cookie: `svc_did=00000000-0000-4000-8000-${device.toString(16).padStart(12, "0")}`,
    });
  });
}

function userAgent(index: number): string {
  const patch = Math.floor(index / 3);
  if (index % 3 === 0)
    return `Mozilla/5.0 (iPhone; CPU iPhone OS 18_${patch % 7} like Mac OS X) AppleWebKit/605.1.${patch} (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1`;
  const platform = index % 3 === 1 ? "Linux; Android 10; K" : "Windows NT 10.0; Win64; x64";
  return `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.6723.${patch} Safari/537.36`;
}

/** A whole HTTP/1.1 request. */
export function getRequest(port: number, path: string, headers: Readonly<Record<string, string>>): string {
  return wholeRequest("GET", port, path, headers, "");
}

export function postRequest(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const length = String(Buffer.byteLength(body));
  return wholeRequest("POST", port, path, { ...headers, "Content-Length": length }, body);
}

function wholeRequest(
  method: string,
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries({ Host: `localhost:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
