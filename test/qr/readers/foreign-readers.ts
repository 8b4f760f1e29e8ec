import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type Pixels, readers } from "../../../src/qr/gate/readers.ts";

/** The programs that read codes, none of which shares code with another. The last two are the gate's own. */
export const readerPrograms = ["opencv", "quirc", "zbar", "zxing-java", "zxing-cpp", "jsqr"] as const;
export type ReaderProgram = (typeof readerPrograms)[number];

export type Readings = Readonly<Record<ReaderProgram, string | undefined>>;

export interface ForeignReaders {
  /** What each program reads in a picture. */
  read(pixels: Pixels): Promise<Readings>;
  end(): void;
}

/** Starts the programs that `install.sh` put into `folder`. */
export function startReaders(folder: string): ForeignReaders {
  const here = import.meta.dirname;
  const java = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", join(folder, "zxing.jar")];
  const others = [
    ask(join(folder, "python/bin/python"), [join(here, "read.py"), folder]),
    ask("java", [...java, join(here, "ReadWithZxing.java")]),
  ];
  return {
    async read(pixels) {
      const grey = greyOf(pixels);
      const answers = Promise.all(others.map((other) => other.read(pixels, grey)));
      const own = { "zxing-cpp": await readers.zxing(pixels), jsqr: await readers.jsqr(pixels) };
      return Object.assign(own, ...(await answers)) as Readings;
    },
    end: () => {
      for (const { end } of others) end();
    },
  };
}

function ask(command: string, args: readonly string[]) {
  const program: ChildProcessByStdio<Writable, Readable, null> = spawn(command, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: program.stdout });
  const ended = once(program, "exit").then(() => {
    throw new Error(`${command} ended`);
  });
  ended.catch(() => undefined);
  return {
    async read({ width, height }: Pixels, grey: Uint8Array): Promise<object> {
      const answer = once(lines, "line");
      program.stdin.write(`${width} ${height}\n`);
      program.stdin.write(grey);
      const [line] = (await Promise.race([answer, ended])) as [string];
      return JSON.parse(line, (_, value: unknown) => value ?? undefined) as object;
    },
    end: () => program.stdin.end(),
  };
}

function greyOf({ data, width, height }: Pixels): Uint8Array {
  const grey = new Uint8Array(width * height);
  for (let index = 0; index < grey.length; index++) {
    const [red, green, blue] = [data[index * 4] ?? 0, data[index * 4 + 1] ?? 0, data[index * 4 + 2] ?? 0];
    grey[index] = Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
  }
  return grey;
}
