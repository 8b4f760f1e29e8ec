import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http2 from "node:http2";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type EventAnswer, type LinkAnswer, type RestApi, restApi } from "./support/rest-api.ts";
import { eventually, isExternalRun, type Service, startService } from "./support/start-service.ts";

let service: Service;

afterEach(() => service.stop());

/**
 * Without the worker, which would draw the built-in templates after a first start: a second of the processor for each. A
 * service that stops while it draws is the subject of `quiet-stop.test.ts`.
 */
const withoutWorker = { ROLES: "api,scan" };

async function start(): Promise<RestApi> {
  service = await startService({ database: "own", env: withoutWorker });
  return restApi(service.baseUrl, service.credentials.accessToken);
}

const body = '{"destination":"https://example.com/"}';

/** Starts a call that creates a link and holds its body back, until the service is known to wait for it. */
async function openRestCall(): Promise<Socket> {
  const socket = connect(service.port, "127.0.0.1");
  socket.write(
    `POST /v1/links HTTP/1.1\r\nHost: localhost:${service.port}\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${service.credentials.accessToken}\r\nContent-Length: ${body.length}\r\n` +
      "Expect: 100-continue\r\n\r\n",
  );
  const [answer] = await once(socket, "data");
  expect(String(answer)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  return socket;
}

async function finishRestCall(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  socket.write(body);
  await once(socket, "end");
  return text;
}

/** Starts a gRPC call and sends half of its message. */
async function openGrpcCall() {
  const session = http2.connect(service.baseUrl);
  const stream = session.request({
    ":method": "POST",
    ":path": "/signpost.v1.LinksService/Create",
    "content-type": "application/grpc",
    authorization: `Bearer ${service.credentials.accessToken}`,
  });
  stream.write(Buffer.of(0, 0, 0, 0, 22));
  // Frames are read in order, so an answered ping means that the call has arrived.
  await new Promise((resolve) => session.ping(resolve));
  return { session, stream };
}

/** Opens links one after the other on some connections, until the port is closed; returns the links that answered. */
function followUntilClosed(links: readonly LinkAnswer[]): { followed: string[]; done: Promise<unknown> } {
  const followed: string[] = [];
  const follow = async (link: LinkAnswer) => {
    for (;;) {
      const answer = await fetch(link.entrypoint, { redirect: "manual" }).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status === 302) followed.push(link.id);
    }
  };
  return { followed, done: Promise.all(links.map(follow)) };
}

function isPortClosed(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(service.port, "127.0.0.1");
    socket.on("connect", () => socket.destroy());
    socket.on("close", (hadError) => resolve(hadError));
    socket.on("error", () => {});
  });
}

/** How often each link was visited, according to the events. */
async function visitsOf(api: RestApi, expected: number): Promise<Map<string, number>> {
  const events = await eventually(
    () => allEvents(api),
    (each) => each.length >= expected,
  );
  const visits = new Map<string, number>();
  for (const { linkId } of events) visits.set(linkId, (visits.get(linkId) ?? 0) + 1);
  return visits;
}

async function allEvents(api: RestApi): Promise<EventAnswer[]> {
  const events: EventAnswer[] = [];
  for (let pageToken = ""; ; ) {
    const path = `/v1/events?pageSize=1000&pageToken=${encodeURIComponent(pageToken)}`;
    const { json } = await api.call<{ json: { events: EventAnswer[]; nextPageToken: string } }>("GET", path);
    events.push(...json.events);
    if (json.nextPageToken === "") return events;
    pageToken = json.nextPageToken;
  }
}

function tally(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

test("SIGTERM lets running calls end, answers no new ones, and loses no visit", async () => {
  const api = await start();
  const links = await Promise.all(Array.from({ length: 4 }, () => api.createLink()));
  const restCalls = await Promise.all([openRestCall(), openRestCall(), openRestCall()]);
  const grpcCall = await openGrpcCall();
  const visitors = followUntilClosed(links);
  await eventually(
    async () => visitors.followed.length,
    (count) => count >= 40,
  );
  const exit = service.kill("SIGTERM");
  await eventually(isPortClosed, (isClosed) => isClosed);
  await visitors.done;

  const answers = await Promise.all(restCalls.map(finishRestCall));
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/^connection: close\r$/im);
  }
  grpcCall.stream.resume();
  grpcCall.stream.end(Buffer.from("\n\x14https://example.com/", "latin1"));
  const [trailers] = await once(grpcCall.stream, "trailers");
  expect(trailers["grpc-status"]).toBe("0");
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(service.log().filter(({ level }) => level >= 50)).toEqual([]);

  service = await service.restart();
  const { links: kept } = await api.call("GET", "/v1/links");
  expect(kept.length).toBe(links.length + restCalls.length + 1);
  expect(await visitsOf(api, visitors.followed.length)).toEqual(tally(visitors.followed));
});

test("kill -9 loses no confirmed link and no redirected visit", async () => {
  const api = await start();
  const links = await Promise.all(Array.from({ length: 4 }, () => api.createLink()));
  const visitors = followUntilClosed(links);
  await eventually(
    async () => visitors.followed.length,
    (count) => count >= 200,
  );
  expect(await service.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  await visitors.done;

  service = await service.restart();
  const { links: kept } = await api.call("GET", "/v1/links");
  expect(new Set(kept.map(({ id }) => id))).toEqual(new Set(links.map(({ id }) => id)));
  const visits = await visitsOf(api, visitors.followed.length);
  // A visit may be stored although its answer was still on its way.
  for (const [id, count] of tally(visitors.followed)) {
    expect(visits.get(id)).toBeGreaterThanOrEqual(count);
    expect(visits.get(id)).toBeLessThanOrEqual(count + 1);
  }
});

test.skipIf(isExternalRun)("kill -9 leaves no PostgreSQL running", async () => {
  await start();
  const text = await readFile(join(service.dataDir, "postgres/postmaster.pid"), "utf8");
  const postmaster = Number(text.split("\n")[0]);
  expect(isRunning(postmaster)).toBe(true);
  await service.kill("SIGKILL");
  await eventually(
    async () => isRunning(postmaster),
    (running) => !running,
  );
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
