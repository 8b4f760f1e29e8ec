import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterAll } from "vitest";
import { addressBytes, readQuestion } from "./dns-server.ts";

const types = { A: 1, NS: 2, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 } as const;
type Type = keyof typeof types;

/** The records of a name, as people write them: a CAA record as `issue ca.example`. */
export type Records = { readonly [Name in Type]?: readonly string[] };

/**
 * What goes wrong with a question: no answer comes, the server has failed, the answer is for another question, or it is no
 * answer at all.
 */
export type Trouble = "silent" | "failed" | "forged" | "garbage";

/** A name server of its own, over UDP and TCP, whose records a test changes at any time. */
export interface TestNameServer {
  /** Where it answers, as a resolver takes it. */
  readonly server: string;
  /** The records by name. A record of another name, such as the end of a CNAME chain, is for the asker to follow. */
  readonly zone: Map<string, Records | Trouble>;
  /** Each question, as `TXT _svc-verify.links.example.com`. */
  readonly asked: string[];
}

/** How many bytes travel over UDP; for longer answers the asker comes back over TCP. */
const datagramMax = 512;

export async function startNameServer(zone = new Map<string, Records | Trouble>()): Promise<TestNameServer> {
  const asked: string[] = [];
  // A resolver on a busy machine repeats a question, with its number. That counts once.
  const known = new Set<string>();
  const answer = (question: Buffer): Buffer | undefined => {
    const { name, type, end } = readQuestion(question);
    const kind = (Object.keys(types) as Type[]).find((each) => types[each] === type);
    const key = `${question.readUInt16BE(0)} ${type} ${name}`;
    if (!known.has(key)) asked.push(`${kind ?? type} ${name}`);
    known.add(key);
    const found = zone.get(name);
    if (found === "silent") return undefined;
    if (found === "garbage") return Buffer.concat([question.subarray(0, 2), Buffer.alloc(30, 0xc0)]);
    const head = Buffer.from(question.subarray(0, 12));
    if (found === "forged") head.writeUInt16BE((head.readUInt16BE(0) + 1) % 65_536, 0);
    const records = typeof found === "object" && kind !== undefined ? recordsOf(found, kind) : [];
    head.writeUInt16BE(found === "failed" ? 0x8182 : found === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    return Buffer.concat([head, question.subarray(12, end), ...records]);
  };
  const port = await listenTwice(answer);
  return { server: `127.0.0.1:${port}`, zone, asked };
}

type AnswerQuestion = (question: Buffer) => Buffer | undefined;

/** Listens over UDP and TCP at one port. A port that is free for one of them may be in use for the other. */
async function listenTwice(answer: AnswerQuestion): Promise<number> {
  for (;;) {
    const socket = createSocket("udp4", (question, { port, address }) => {
      const reply = answer(question);
      if (reply === undefined) return;
      socket.send(reply.length > datagramMax ? cutOff(question) : reply, port, address);
    });
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    const { port } = socket.address();
    const stream = answerStreams(answer).listen(port, "127.0.0.1");
    try {
      await once(stream, "listening");
    } catch {
      socket.close();
      continue;
    }
    afterAll(() => {
      socket.close();
      stream.close();
    });
    return port;
  }
}

function answerStreams(answer: AnswerQuestion): Server {
  return createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const reply = answer(bytes.subarray(2));
      if (reply === undefined) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      socket.write(Buffer.concat([length, reply]));
    });
  });
}

/** The answer that says only that the whole one is too long. */
function cutOff(question: Buffer): Buffer {
  const reply = Buffer.from(question.subarray(0, readQuestion(question).end));
  reply.writeUInt16BE(0x8380, 2);
  reply.writeUInt16BE(0, 6);
  reply.writeUInt32BE(0, 8);
  return reply;
}

/** An answer holds the name's CNAME record in place of what was asked for, as a server without the other zone answers. */
function recordsOf(records: Records, kind: Type): Buffer[] {
  const values = records[kind] ?? [];
  const alias = values.length === 0 && kind !== "CNAME" ? (records.CNAME ?? []) : [];
  return [
    ...values.map((value) => record(types[kind], dataOf(kind, value))),
    ...alias.map((value) => record(types.CNAME, dataOf("CNAME", value))),
  ];
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(kind: Type, value: string): Buffer {
  if (kind === "A" || kind === "AAAA") return addressBytes(value);
  if (kind === "TXT") return Buffer.concat((value.match(/.{1,255}/gs) ?? [""]).map(counted));
  if (kind === "CAA") {
    const [tag = "", text = ""] = value.split(" ");
    return Buffer.concat([Buffer.from([0]), counted(tag), Buffer.from(text)]);
  }
  return Buffer.concat([...value.split(".").map(counted), Buffer.from([0])]);
}

function counted(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}
