import { createSocket } from "node:dgram";
import { isIPv4 } from "node:net";
import { afterAll } from "vitest";

/** A name server of its own, on a real UDP socket. */
export interface DnsServer {
  /** Where it answers, as a resolver takes it. */
  readonly server: string;
  /** The names that were asked for, once for each question about IPv4 addresses. */
  readonly asked: readonly string[];
}

/** Answers each question with the addresses that `answer` tells; with none, the name does not exist. */
export async function startDnsServer(answer: (name: string) => readonly string[]): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  // Both questions of a look-up, for IPv4 and for IPv6, get the same answer.
  let current: readonly string[] = [];
  // A resolver on a busy machine repeats a question, with its number. That is answered as before, and not counted.
  const told = new Map<string, readonly string[]>();
  socket.on("message", (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    if (type === 1) {
      const key = `${question.readUInt16BE(0)} ${name}`;
      const before = told.get(key);
      if (before === undefined) asked.push(name);
      current = before ?? answer(name);
      told.set(key, current);
    }
    const found = current.filter((each) => (type === 1) === isIPv4(each));
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(current.length > 0 ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(found.length, 6);
    head.writeUInt32BE(0, 8);
    const records = found.map((each) => record(type, addressBytes(each)));
    socket.send(Buffer.concat([head, question.subarray(12, end), ...records]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  afterAll(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { server: `127.0.0.1:${socket.address().port}`, asked };
}

export function readQuestion(packet: Buffer): {
  readonly name: string;
  readonly type: number;
  readonly end: number;
} {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

/** A record for the name of the question, which may be kept for no second. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const zeros = Array(8 - groups(head).length - groups(tail).length).fill("0");
  return Buffer.from(
    [...groups(head), ...zeros, ...groups(tail)].map((group) => group.padStart(4, "0")).join(""),
    "hex",
  );
}
