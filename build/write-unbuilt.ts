import { writeFile } from "node:fs/promises";
import { unbuiltPage } from "../src/api/unbuilt.ts";
import { registeredServices } from "./registered-services.ts";

// Writes gen/unbuilt.md.
await writeFile(new URL("../gen/unbuilt.md", import.meta.url), unbuiltPage(registeredServices()));
