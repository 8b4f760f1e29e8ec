#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Compiled code is kept between runs, which halves what a start costs; so everything else is loaded after this.
enableCompileCache();
const { main } = await import("./main-line.ts");

/** Characters in a line where the output is no terminal and nothing else is said. */
const usualWidth = 120;

// Whoever reads the output may have seen enough, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  width: process.stdout.columns ?? (Number(process.env.COLUMNS) || usualWidth),
  write: (text) => void process.stdout.write(text),
  report: (text) => void process.stderr.write(`${text}\n`),
});
