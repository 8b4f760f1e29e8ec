/**
 * Makes clients of gen/openapi.json with common generators, compiles them, and tests each on a running service: `node
 * sdk/openapi-clients.ts [client…]`. It skips a client whose tools are missing here, or cannot be downloaded, and
 * prints the reason; every later failure counts.
 */
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Command, Tool } from "./languages.ts";
import { repository, run } from "./run.ts";
import { type StartedService, startService } from "./service.ts";
import { lack } from "./tools.ts";
import { untilWalked } from "./walked.ts";

/** How one generator's client is made and tested; every command runs in a folder of its own. */
interface Client {
  readonly tools: readonly Tool[];
  /** Commands that download what generation and build need. */
  readonly fetch: readonly Command[];
  readonly generate: readonly Command[];
  /** Commands that check and compile the generated code together with the program. */
  readonly build: readonly Command[];
  /** The program in `sdk/openapi` that tests the client, and its name in the folder. */
  readonly program: readonly [file: string, name: string];
  /** Runs the program, with SIGNPOST_URL and SIGNPOST_TOKEN. */
  readonly smoke: Command;
  /** The files, of the repository, and the command that walk the journey of JOURNEY.md, told in the same way. */
  readonly journey?: { readonly files: readonly string[]; readonly command: Command };
}

const document = join(repository, "gen/openapi.json");
const node: Tool = { version: ["node", "--version"], least: [22, 18] };
const java: Tool = { version: ["java", "--version"], least: [11, 0] };
const maven: Tool = { version: ["mvn", "--version"], least: [3, 6] };
const python: Tool = { version: ["python3", "--version"], least: [3, 11] };
const go: Tool = { version: ["go", "version"], least: [1, 23] };

const generator = "openapi-generator-cli";
const generatorVersion = "7.16.0";
const fetchGenerator: Command = [
  "mvn",
  "--batch-mode",
  "--quiet",
  "dependency:copy",
  `-Dartifact=org.openapitools:${generator}:${generatorVersion}`,
  "-DoutputDirectory=.",
];

function generate(language: string, folder: string, ...options: readonly string[]): Command {
  const jar = `${generator}-${generatorVersion}.jar`;
  return ["java", "-jar", jar, "generate", "-i", document, "-g", language, "-o", folder, ...options];
}

const newEnvironment: Command = ["python3", "-m", "venv", "venv"];
const pipInstall = ["venv/bin/pip", "--quiet", "install"] as const;
const everyModule = `import importlib, pkgutil, openapi_client as client
for module in pkgutil.walk_packages(client.__path__, "openapi_client."): importlib.import_module(module.name)`;
const typescript = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"] as const;
const typescriptNeeds = ["typescript@5.9.3", "@types/node@24"] as const;
const npmInstall = ["npm", "install", "--no-audit", "--no-fund", "--silent"] as const;

const clients: Readonly<Record<string, Client>> = {
  "openapi-generator python": {
    tools: [java, maven, python],
    fetch: [fetchGenerator, newEnvironment],
    generate: [generate("python", "client")],
    build: [
      [...pipInstall, "./client"],
      ["venv/bin/python", "-c", everyModule],
    ],
    program: ["generated.py", "try.py"],
    smoke: ["venv/bin/python", "try.py"],
    journey: {
      files: [
        "sdk/openapi/journey.py",
        "sdk/openapi/journey_agents.py",
        "sdk/openapi/journey_analytics.py",
        "sdk/openapi/journey_assistant.py",
        "sdk/openapi/journey_dashboards.py",
        "sdk/openapi/journey_directories.py",
        "sdk/openapi/journey_domains.py",
        "sdk/openapi/journey_exports.py",
        "sdk/openapi/journey_google_forms.py",
        "sdk/openapi/journey_page_themes.py",
        "sdk/openapi/journey_people.py",
        "sdk/openapi/journey_sandbox.py",
        "sdk/openapi/journey_slack.py",
        "sdk/openapi/journey_webhooks.py",
        "sdk/openapi/journey_workspace.py",
        "sdk/openapi/refusal.py",
        "sdk/python/test/journey_support.py",
      ],
      command: ["venv/bin/python", "journey.py"],
    },
  },
  "openapi-generator typescript-fetch": {
    tools: [java, maven, node],
    fetch: [fetchGenerator, [...npmInstall, ...typescriptNeeds]],
    generate: [generate("typescript-fetch", "client", "--additional-properties=importFileExtension=.js")],
    build: [["node_modules/.bin/tsc", ...typescript, "try.ts"]],
    program: ["generated.ts", "try.ts"],
    smoke: ["node", "try.js"],
  },
  "openapi-generator go": {
    tools: [java, maven, go],
    fetch: [fetchGenerator],
    generate: [
      ["go", "mod", "init", "signpost.example/generated"],
      generate("go", "client", "--global-property=apiTests=false,modelTests=false"),
      ["rm", "client/go.mod", "client/go.sum"],
    ],
    build: [
      ["go", "mod", "tidy"],
      ["go", "build", "-o", "try", "."],
    ],
    program: ["main.go", "main.go"],
    smoke: ["./try"],
  },
  "openapi-python-client": {
    tools: [python],
    fetch: [newEnvironment, [...pipInstall, "openapi-python-client==0.29.1", "mypy==1.19.0"]],
    generate: [
      [
        "venv/bin/openapi-python-client",
        "generate",
        "--config",
        join(repository, "sdk/openapi/client.yaml"),
        "--path",
        document,
        "--output-path",
        "client",
        "--fail-on-warning",
      ],
    ],
    build: [
      [...pipInstall, "./client"],
      ["venv/bin/mypy", "--strict", "try.py"],
    ],
    program: ["client.py", "try.py"],
    smoke: ["venv/bin/python", "try.py"],
  },
  "openapi-typescript": {
    tools: [node],
    fetch: [[...npmInstall, "openapi-typescript@7.13.0", "openapi-fetch@0.17.0", ...typescriptNeeds]],
    generate: [["node_modules/.bin/openapi-typescript", document, "--output", "schema.d.ts"]],
    build: [["node_modules/.bin/tsc", ...typescript, "try.ts"]],
    program: ["types.ts", "try.ts"],
    smoke: ["node", "try.js"],
  },
};

const selected = select(process.argv.slice(2));
const service = await startService();
try {
  for (const [name, client] of selected) await tryClient(name, client, service);
} finally {
  await service.stop();
}

function select(names: readonly string[]): [name: string, client: Client][] {
  const all = Object.entries(clients);
  const wrong = names.find((name) => !all.some(([known]) => known.includes(name)));
  if (wrong !== undefined)
    throw new Error(`no client is called ${wrong}; there are ${Object.keys(clients).join(", ")}`);
  return names.length === 0 ? all : all.filter(([known]) => names.some((name) => known.includes(name)));
}

async function tryClient(name: string, client: Client, service: StartedService): Promise<void> {
  const lacking = client.tools.map(lack).find(Boolean);
  if (lacking !== undefined) return skip(name, lacking);
  const folder = await mkdtemp(join(tmpdir(), "signpost-openapi-"));
  const started = performance.now();
  try {
    // npm installs into the nearest folder with a package.json.
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    try {
      for (const command of client.fetch) await run(command, folder);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return skip(name, `what it needs could not be fetched: ${why}`);
    }
    for (const command of client.generate) await run(command, folder);
    const [file, program] = client.program;
    await copyFile(join(repository, "sdk/openapi", file), join(folder, program));
    for (const command of client.build) await run(command, folder);
    const environment = { SIGNPOST_URL: service.url, SIGNPOST_TOKEN: service.token };
    await run(client.smoke, folder, environment);
    if (client.journey !== undefined) {
      for (const each of client.journey.files)
        await copyFile(join(repository, each), join(folder, basename(each)));
      service.takeAnswers();
      await run(client.journey.command, folder, await service.newWorkspace());
      process.stdout.write(`${name}: walked through all ${await untilWalked(name, service)} operations\n`);
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${name}: made, compiled and tried in ${seconds} s\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function skip(name: string, why: string): void {
  process.stdout.write(`${name}: skipped, ${why}\n`);
}
