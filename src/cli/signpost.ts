#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// The cache keeps compiled code between runs and halves their start. It must be on before anything else is loaded.
enableCompileCache();
const { main } = await import("./main-line.ts");

/** Characters per line when the output is no terminal and COLUMNS is unset. */
const usualWidth = 120;

// A reader of the output, such as `head`, may close it early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  width: process.stdout.columns ?? (Number(process.env.COLUMNS) || usualWidth),
  write: (text) => void process.stdout.write(text),
  isWatched: process.stdout.isTTY,
  report: (text) => void process.stderr.write(`${text}\n`),
  redraw: process.stderr.isTTY ? (text) => void process.stderr.write(`\r${text}\u001b[K`) : undefined,
});
