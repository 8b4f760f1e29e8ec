import { getServers, Resolver } from "node:dns/promises";
import { ownText } from "../lib/own-text.ts";

/** The records of a name: those found, none, or no answer that can be used. */
export type Answer<Record> = readonly Record[] | "none" | "failed";

/** A record that says which authorities may certify a name. */
export interface CaaRecord {
  readonly issue?: string | undefined;
}

/** One name server, or one group of them that are asked in turn. */
export interface NameServer {
  /** Its address, for people. */
  readonly shown: string;
  cname(name: string): Promise<Answer<string>>;
  /** The addresses to which a name leads in the end, through all CNAME records. */
  addresses(name: string): Promise<Answer<string>>;
  txt(name: string): Promise<Answer<string>>;
  caa(name: string): Promise<Answer<CaaRecord>>;
  ns(name: string): Promise<Answer<string>>;
  /** Ends all questions; what is unanswered has failed. */
  end(): void;
}

/** How many records of an answer are read. */
const recordsMax = 16;

/** How many characters of a text are read: more than a token has. */
const textMax = 255;

/** How many name servers are asked the same, so that a single one that lies or lags is noticed. */
const witnessesMax = 2;

/**
 * The name servers that judge, each by itself: the first two of those given (`9.9.9.9`, `127.0.0.1:5353`), or of the system's.
 * They are asked by packets of our own, which no configured search domain completes. A question has `timeoutMs`.
 */
export function openNameServers(servers: readonly string[], timeoutMs: number): readonly NameServer[] {
  const known = servers.length > 0 ? servers : getServers();
  return known.slice(0, witnessesMax).map((server) => openNameServer(server, timeoutMs));
}

function openNameServer(server: string, timeoutMs: number): NameServer {
  // The second try waits twice as long.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 });
  resolver.setServers([server]);
  return {
    shown: server,
    cname: (name) => answerOf(resolver.resolveCname(name), hostOf),
    async addresses(name) {
      const kinds = await Promise.all([
        answerOf(resolver.resolve4(name), asItIs),
        answerOf(resolver.resolve6(name), asItIs),
      ]);
      const found = kinds.flatMap((kind) => (typeof kind === "string" ? [] : kind));
      if (found.length > 0) return found;
      return kinds.includes("failed") ? "failed" : "none";
    },
    // A long text travels in pieces.
    txt: (name) =>
      answerOf(resolver.resolveTxt(name), (pieces) => ownText(pieces.join("").slice(0, textMax))),
    caa: (name) => answerOf(resolver.resolveCaa(name), ({ issue }) => ({ issue })),
    ns: (name) => answerOf(resolver.resolveNs(name), hostOf),
    end: () => resolver.cancel(),
  };
}

function asItIs(text: string): string {
  return text;
}

function hostOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/** What c-ares says when a name, or its records of one type, do not exist. */
const absences: readonly unknown[] = ["ENODATA", "ENOTFOUND"];

async function answerOf<Raw, Record>(
  asked: Promise<readonly Raw[]>,
  read: (raw: Raw) => Record,
): Promise<Answer<Record>> {
  try {
    const records = (await asked).slice(0, recordsMax).map(read);
    return records.length > 0 ? records : "none";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return absences.includes(code) ? "none" : "failed";
  }
}
