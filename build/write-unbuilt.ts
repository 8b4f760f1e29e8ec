import { writeFile } from "node:fs/promises";
import { createServices } from "../src/api/services.ts";
import { unbuiltPage } from "../src/api/unbuilt.ts";

// Writes gen/unbuilt.md. No handler is called, so the handlers' dependencies are never used.
const nothing = new Proxy({}, { get: () => () => undefined });
await writeFile(
  new URL("../gen/unbuilt.md", import.meta.url),
  unbuiltPage(createServices(nothing as Parameters<typeof createServices>[0])),
);
