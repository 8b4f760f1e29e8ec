import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { createSlack, type Slack } from "../../../src/integrations/slack/slack.ts";
import { answerOf, type SlackState } from "./methods.ts";
import { newTeam, type Team } from "./team.ts";

/** An answer of the stand-in that is not what its method would give. */
export type BadAnswer =
  | { readonly error: string }
  | { readonly limitedSeconds: number | undefined }
  | { readonly html: number }
  | "cut"
  | "closed"
  | "never"
  | "huge"
  | "null";

export interface PostedMessage {
  readonly team: string;
  readonly channel: string;
  readonly text: string;
  readonly blocks: readonly unknown[];
}

export interface SlackRequest {
  readonly method: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** The app's settings at the stand-in. */
export const slackApp = { clientId: "123.456", clientSecret: "the app's secret" };
export const returnUrl = "http://api.test/docs/connected";

export interface SlackStandIn {
  /** For `SLACK_API_URL`. */
  readonly apiUrl: string;
  /** The service's own client of this stand-in. */
  readonly client: Slack;
  readonly messages: readonly PostedMessage[];
  readonly requests: readonly SlackRequest[];
  /** The team that codes such as `<name>.1` lead to. Each code is good once. */
  team(name: string): Team;
  /** What the next calls of a method are answered instead, one each. */
  answerNext(method: string, ...answers: readonly BadAnswer[]): void;
  close(): Promise<void>;
}

export interface StandInOptions {
  /** With a clock, a channel takes one message in each second of it. */
  readonly now?: () => Date;
  /** How long the client waits for an answer, in milliseconds. */
  readonly answerMs?: number;
  /** The address that the app is set up with. */
  readonly returnUrl?: string;
}

/**
 * Slack's Web API as it documents itself, on a port of its own: authorizations, channels with cursors, joining, messages
 * with the limits of Block Kit, revocation, and the words with which it refuses each. Nothing of it is shared with the
 * code under test.
 */
export async function startSlack(options: StandInOptions = {}): Promise<SlackStandIn> {
  const bad = new Map<string, BadAnswer[]>();
  const requests: SlackRequest[] = [];
  const teams = new Map<string, Team>();
  const team = (name: string): Team => {
    const known = teams.get(name) ?? newTeam(name, teams.size + 1);
    teams.set(name, known);
    return known;
  };
  const state: SlackState = {
    app: { ...slackApp, returnUrl: options.returnUrl ?? returnUrl },
    team,
    teams: () => teams.values(),
    usedCodes: new Set(),
    messages: [],
    lastPosts: new Map(),
    now: options.now,
  };
  const server = createServer(async (req, res) => {
    const method = /^\/api\/([\w.]+)$/.exec(req.url ?? "")?.[1] ?? "";
    const sent = Object.fromEntries(new URLSearchParams(await readText(req)));
    requests.push({ method, arguments: sent });
    const answer = bad.get(method)?.shift();
    if (answer !== undefined) return answerBadly(req, res, answer);
    send(
      res,
      200,
      answerOf(state, method, { sent, authorization: req.headers.authorization, verb: req.method }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is an AddressInfo
  const apiUrl = `http://127.0.0.1:${port}/api`;
  return {
    apiUrl,
    client: createSlack({
      config: { apiUrl, app: slackApp },
      returnUrl: options.returnUrl ?? returnUrl,
      ...(options.answerMs !== undefined && { answerMs: options.answerMs }),
    }),
    messages: state.messages,
    requests,
    team,
    answerNext: (method, ...answers) => void bad.set(method, [...(bad.get(method) ?? []), ...answers]),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(res: ServerResponse, status: number, answer: Readonly<Record<string, unknown>>): void {
  const isLimited = answer.error === "ratelimited";
  res.writeHead(isLimited ? 429 : status, {
    "content-type": "application/json; charset=utf-8",
    ...(isLimited && { "retry-after": "1" }),
  });
  res.end(JSON.stringify(answer));
}

const page = "<!DOCTYPE html><title>Slack is down</title>";

function answerBadly(req: IncomingMessage, res: ServerResponse, answer: BadAnswer): void {
  if (answer === "closed") req.socket.destroy();
  else if (answer === "cut") {
    res.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
    res.write('{"ok":true,"channel":{"id":"C');
    res.socket?.end();
  } else if (answer === "huge") res.end(`{"ok":true,"channels":[]${" ".repeat(9_000_000)}}`);
  else if (answer === "null") res.end("null");
  else if (answer === "never") return;
  else if ("html" in answer) res.writeHead(answer.html, { "content-type": "text/html" }).end(page);
  else if ("error" in answer) send(res, 200, { ok: false, error: answer.error });
  else {
    const { limitedSeconds } = answer;
    const wait = limitedSeconds === undefined ? {} : { "retry-after": String(limitedSeconds) };
    res.writeHead(429, wait).end('{"ok":false,"error":"ratelimited"}');
  }
}
