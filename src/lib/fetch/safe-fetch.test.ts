import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, expect, test } from "vitest";
import { startDnsServer } from "../../../test/support/dns-server.ts";
import { receiverTls, startReceiver } from "../../../test/support/receiver.ts";
import { specialHosts, specialNetworks } from "../../../test/support/special-addresses.ts";
import { readAddress } from "./read-address.ts";
import { createHostResolver } from "./resolve-host.ts";
import { createSafeFetch, type FetchOrder, type SafeFetchOptions } from "./safe-fetch.ts";
import { createAddressJudge } from "./special-addresses.ts";

const receiver = await startReceiver();
/** The same port at another address, which no test allows. */
const forbidden = await startReceiver({ host: "127.0.0.9", port: receiver.port });
const names = new Map<string, readonly string[]>();
const dns = await startDnsServer((name) => names.get(name) ?? []);
const local = ["127.0.0.1/32"];

function open(options: SafeFetchOptions = {}) {
  const fetch = createSafeFetch({ resolve: createHostResolver([dns.server]), ...options });
  afterAll(() => fetch.close());
  return fetch;
}

function post(address: string, order: Partial<FetchOrder> = {}): FetchOrder {
  return { address, method: "POST", headers: {}, body: "{}", cleartext: true, ...order };
}

test("every special network is refused from its first to its last address, and its neighbours are not", () => {
  const judge = createAddressJudge([]);
  const judged = specialNetworks.flat().map((address) => [address, judge(address)]);
  expect(judged.filter(([, is]) => is !== "refused")).toEqual([]);
  const neighbours = [
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
  ];
  const others = [
    "128.0.0.0",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "223.255.255.255",
  ];
  const longer = [
    "2000::1",
    "2001:200::1",
    "2001:db7::1",
    "2003::1",
    "2606:4700::1111",
    "3ffd::1",
    "3fff:1000::1",
  ];
  expect([...neighbours, ...others, ...longer].filter((address) => judge(address) !== "public")).toEqual([]);
});

test("an operator allows networks, in IPv6's wrapping too, and nothing beside them", () => {
  const judge = createAddressJudge(["10.1.0.0/16", "fd00:1::/32"]);
  expect(["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"].map(judge)).toEqual(["private", "private", "private"]);
  expect(["10.2.0.1", "127.0.0.1", "fd00:2::5"].map(judge)).toEqual(["refused", "refused", "refused"]);
  expect(() => createAddressJudge(["10.0.0.0/99"])).toThrow(
    '"10.0.0.0/99" is neither an address nor a network',
  );
});

test("hosts in special networks are refused in every notation, when checked and when sent to", async () => {
  const fetch = open();
  expect(specialHosts.length).toBeGreaterThan(500);
  const opened = receiver.connections.opened + forbidden.connections.opened;
  for (const host of specialHosts) {
    const address = `https://${host}:${receiver.port}/`;
    expect([host, await fetch.faultOf(address, { cleartext: false })]).toEqual([host, "private"]);
    expect([host, await fetch.send(post(address))]).toMatchObject([
      host,
      { kind: "refused", fault: "private" },
    ]);
  }
  expect(receiver.connections.opened + forbidden.connections.opened).toBe(opened);
});

test("texts that are no plain web address are refused", () => {
  const malformed = [
    "",
    "example.com",
    "ftp://example.com/",
    "javascript:alert(1)",
    "https:example.com",
    "https:///x",
  ];
  const odd = ["https://exa mple.com/", "https://example.com\\@10.0.0.1/", "https://[fe80::1%25eth0]/"];
  const numbers = ["https://256.1.1.1/", "https://1.2.3.4.5/", "https://example.com:99999/", "https://[::1/"];
  for (const text of [...malformed, ...odd, ...numbers, "https://", "https://."])
    expect([text, readAddress(text)]).toEqual([text, { fault: "malformed" }]);
  expect(readAddress("https://example.com@10.0.0.1/")).toEqual({ fault: "credentials" });
  expect(readAddress("https://user:word@example.com/")).toEqual({ fault: "credentials" });
  for (const port of [22, 25, 110, 587, 1023])
    expect(readAddress(`https://example.com:${port}/`)).toEqual({ fault: "port" });
  for (const text of ["https://example.com", "http://example.com:80/x?y#z", "HTTPS://münchen.example:8443/"])
    expect(readAddress(text)).toHaveProperty("url");
});

test("without leave for cleartext, http goes only to networks that the operator allows", async () => {
  names
    .set("public.test", ["1.0.0.1"])
    .set("inside.test", ["127.0.0.1"])
    .set("both.test", ["1.0.0.1", "127.0.0.1"]);
  const fetch = open({ allowedNetworks: local });
  const faultOf = (host: string, cleartext: boolean) => fetch.faultOf(`http://${host}/`, { cleartext });
  expect(await faultOf("public.test", false)).toBe("cleartext");
  expect(await faultOf("public.test", true)).toBeUndefined();
  expect(await faultOf("inside.test", false)).toBeUndefined();
  const { kind } = await fetch.send(post(`http://both.test:${receiver.port}/`, { cleartext: false }));
  expect(kind).toBe("answered");
  // A name may get its address later.
  expect(await faultOf("nowhere.test", false)).toBeUndefined();
  expect(await fetch.send(post("https://nowhere.test/"))).toMatchObject({ kind: "failed", cause: "no-host" });
});

test("a name server that changes its answer leads no request elsewhere: a connection goes where was judged", async () => {
  let answers = 0;
  const flipping = await startDnsServer(() => (answers++ % 2 === 0 ? ["127.0.0.1"] : ["127.0.0.9"]));
  const options = { allowedNetworks: local, resolve: createHostResolver([flipping.server]) };
  const address = `http://flip.test:${receiver.port}/`;
  const before = { allowed: receiver.requests.length, forbidden: forbidden.connections.opened };
  const fetch = open(options);
  expect(await fetch.send(post(address))).toMatchObject({ kind: "answered", status: 200 });
  expect(flipping.asked).toEqual(["flip.test"]);
  // A new connection asks again, and the new answer is judged.
  expect(await open(options).send(post(address))).toMatchObject({ kind: "refused", fault: "private" });
  // Checked while the answer was good, sent when it is not.
  expect(await open(options).faultOf(address, { cleartext: true })).toBeUndefined();
  expect(await open(options).send(post(address))).toMatchObject({ kind: "refused", fault: "private" });
  expect(flipping.asked).toHaveLength(4);
  expect(receiver.requests.length).toBe(before.allowed + 1);
  expect(forbidden.connections.opened).toBe(before.forbidden);
});

test("of several addresses only those that may be reached are tried", async () => {
  names.set("mixed.test", ["127.0.0.9", "127.0.0.1", "::1"]);
  const opened = forbidden.connections.opened;
  const sent = await open({ allowedNetworks: local }).send(post(`http://mixed.test:${receiver.port}/`));
  expect(sent).toMatchObject({ kind: "answered", status: 200 });
  expect(forbidden.connections.opened).toBe(opened);
});

test("requests use the connections of earlier ones, without another look-up", async () => {
  names.set("kept.test", ["127.0.0.1"]);
  const fetch = open({ allowedNetworks: local });
  const before = receiver.connections.opened;
  const asked = () => dns.asked.filter((name) => name === "kept.test").length;
  for (const path of ["/one", "/two", "/three", "/four", "/five", "/six"])
    expect(await fetch.send(post(`http://kept.test:${receiver.port}${path}`))).toMatchObject({ status: 200 });
  // A request right after an answer may find the connection not yet given back.
  expect(receiver.connections.opened - before).toBeLessThanOrEqual(2);
  expect(asked()).toBeLessThanOrEqual(2);
  expect(receiver.requests.at(-1)).toMatchObject({ method: "POST", path: "/six", body: "{}" });
});

test("redirects are answers and are not followed; long bodies are read to 64 KB and cut to their head", async () => {
  const fetch = open({ allowedNetworks: local });
  const address = `http://127.0.0.1:${receiver.port}/`;
  const before = receiver.requests.length;
  receiver.answer = (_request, response) => response.writeHead(307, { location: "/secret" }).end("moved");
  expect(await fetch.send(post(address))).toMatchObject({
    kind: "answered",
    status: 307,
    head: Buffer.from("moved"),
  });
  expect(receiver.requests.length).toBe(before + 1);
  let written = 0;
  const closed = Promise.withResolvers<void>();
  receiver.answer = (_request, response) => {
    response.on("close", closed.resolve);
    const more = (): void => {
      while (!response.destroyed && written < 64_000_000) {
        written += 65_536;
        if (!response.write("x".repeat(65_536))) return void response.once("drain", more);
      }
    };
    more();
  };
  const sent = await fetch.send(post(address));
  expect(sent).toMatchObject({ kind: "answered", status: 200, head: Buffer.from("x".repeat(1024)) });
  await closed.promise;
  expect(written).toBeLessThan(16_000_000);
  receiver.answer = (_request, response) => void response.end();
});

test("a receiver that stays silent, drips, hangs up or speaks something else fails by its own cause", async () => {
  const timeouts = { connectMs: 300, firstByteMs: 400, wholeMs: 900 };
  const hasty = open({ allowedNetworks: local, timeouts });
  const patient = open({ allowedNetworks: local });
  const address = `http://127.0.0.1:${receiver.port}/`;
  const causeOf = async (at = address, fetch = patient) => {
    const sent = await fetch.send(post(at));
    return sent.kind === "failed" ? sent.cause : sent.kind;
  };
  receiver.answer = () => {};
  expect(await causeOf(address, hasty)).toBe("time-out");
  receiver.answer = (_request, response) => {
    const timer = setInterval(() => response.write("."), 50);
    response.on("close", () => clearInterval(timer));
  };
  expect(await causeOf(address, hasty)).toBe("time-out");
  receiver.answer = (_request, response) => void response.socket?.destroy();
  expect(await causeOf()).toBe("closed");
  receiver.answer = (_request, response) => void response.socket?.end("SSH-2.0-OpenSSH_9.9\r\n\r\n");
  expect(await causeOf()).toBe("not-http");
  receiver.answer = (_request, response) =>
    void response.writeHead(200, { "x-long": "x".repeat(20_000) }).end();
  expect(await causeOf()).toBe("not-http");
  // A server that accepts a connection and never speaks TLS.
  const mute = await startMute();
  expect(await causeOf(`https://127.0.0.1:${mute}/`, hasty)).toBe("time-out");
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  expect(await causeOf(`http://127.0.0.1:${port}/`)).toBe("unreachable");
  receiver.answer = (_request, response) => void response.end();
});

async function startMute(): Promise<number> {
  const { createServer: listenRaw } = await import("node:net");
  const server = listenRaw((socket) => void socket.on("error", () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("certificates are verified against the name of the address, through a proxy as well", async () => {
  names.set("receiver.test", ["127.0.0.1"]).set("other.test", ["127.0.0.1"]);
  const secure = await startReceiver({ tls: receiverTls });
  const proxy = await startProxy();
  const address = (host: string) => `https://${host}:${secure.port}/`;
  expect(await open({ allowedNetworks: local }).send(post(address("receiver.test")))).toMatchObject({
    cause: "tls",
  });
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, receiverTls.cert]);
  try {
    const settings = { http: proxy.url, https: proxy.url, except: ["direct.test"] };
    for (const proxies of [undefined, settings]) {
      const fetch = open({ allowedNetworks: local, ...(proxies && { proxies }) });
      expect(await fetch.send(post(address("receiver.test")))).toMatchObject({
        kind: "answered",
        status: 200,
      });
      expect(await fetch.send(post(address("other.test")))).toMatchObject({ kind: "failed", cause: "tls" });
    }
  } finally {
    setDefaultCACertificates(trusted);
  }
  expect(secure.requests).toHaveLength(2);
  expect(secure.requests[0]?.headers.host).toBe(`receiver.test:${secure.port}`);
  // The proxy learns the address that was judged, and never a name that it would look up itself.
  expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${secure.port}`]));
});

test("a proxy is asked for https and http alike, names of NO_PROXY go past it, and its refusal is told", async () => {
  names
    .set("api.direct.test", ["127.0.0.1"])
    .set("far.test", ["127.0.0.1"])
    .set("hidden.test", ["127.0.0.9"]);
  const proxy = await startProxy();
  const fetch = open({
    allowedNetworks: local,
    proxies: { http: proxy.url, https: proxy.url, except: [".direct.test"] },
  });
  const send = (host: string) => fetch.send(post(`http://${host}:${receiver.port}/`));
  expect(await send("api.direct.test")).toMatchObject({ status: 200 });
  expect(proxy.targets).toEqual([]);
  expect(await send("far.test")).toMatchObject({ status: 200 });
  expect(proxy.targets).toEqual([`127.0.0.1:${receiver.port}`]);
  expect(proxy.logins).toEqual([`Basic ${Buffer.from("us er:word").toString("base64")}`]);
  expect(await send("hidden.test")).toMatchObject({ kind: "refused", fault: "private" });
  expect(proxy.targets).toHaveLength(1);
  proxy.refuses = true;
  names.set("farther.test", ["127.0.0.1"]);
  expect(await send("farther.test")).toMatchObject({ kind: "failed", cause: "proxy" });
});

/** A proxy that opens tunnels, on a real socket. */
async function startProxy() {
  const server = createServer();
  const proxy = {
    url: new URL("http://localhost"),
    targets: [] as string[],
    logins: [] as string[],
    refuses: false,
  };
  server.on("connect", ({ url = "", headers }: IncomingMessage, socket: Socket) => {
    proxy.targets.push(url);
    proxy.logins.push(headers["proxy-authorization"] ?? "");
    if (proxy.refuses) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const [host, port] = url.split(":");
    const far = connect(Number(port), host ?? "", () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      far.pipe(socket).pipe(far);
    });
    for (const each of [far, socket])
      each.on("error", () => {}).on("close", () => [far, socket].map((s) => s.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => void server.close());
  proxy.url = new URL(`http://us%20er:word@127.0.0.1:${(server.address() as AddressInfo).port}`);
  return proxy;
}

test("a thousand hosts keep at most 256 connections", async () => {
  const all = await startDnsServer(() => ["127.0.0.1"]);
  const crowded = await startReceiver();
  const fetch = open({ allowedNetworks: local, resolve: createHostResolver([all.server]) });
  for (let batch = 0; batch < 20; batch++) {
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        fetch.send(post(`http://host-${batch}-${at}.test:${crowded.port}/`)),
      ),
    );
    expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(["answered"]));
    expect(crowded.connections.open).toBeLessThanOrEqual(256 + 50);
  }
  await expect.poll(() => crowded.connections.open).toBeLessThanOrEqual(256);
});
