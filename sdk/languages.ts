/** A program and its arguments, run in `sdk/<language>` with the repository's own tools on the path. */
export type Command = readonly [program: string, ...args: string[]];

/** A program that must be on the machine. */
export interface Tool {
  readonly version: Command;
  readonly least: readonly [major: number, minor: number];
}

/** How one language's package is made and tested. */
export interface Language {
  readonly tools: readonly Tool[];
  /** Commands that download what generation and build need. */
  readonly fetch: readonly Command[];
  /** The plugins that `buf generate` runs on the protos; absent when the language's own build does that. */
  readonly generate?: {
    readonly plugins: readonly object[];
    readonly managed?: object;
    /** Further protos for which the language has no package. */
    readonly alsoFrom?: readonly string[];
  };
  /** The outputs of generation and build; they are removed first, so that nothing remains of deleted protos. */
  readonly outputs: readonly string[];
  readonly build: readonly Command[];
  /** Commands that test the built package on the running service at SIGNPOST_URL, with SIGNPOST_TOKEN. */
  readonly smoke: readonly Command[];
  /** Walks the journey of JOURNEY.md on a running service, told in the same way. */
  readonly journey: Command;
  /** The file, run by `smoke`, that holds every line of this language in the READMEs. */
  readonly example: string;
}

const pythonBin = "build/venv/bin";
const pip = [`${pythonBin}/pip`, "--quiet"] as const;
const goModule = "signpost.example/signpost";
const maven = ["mvn", "--batch-mode", "--quiet"] as const;
const javaCompilers = "compilers";
const javaSources = "src/generated/java";

/** Every language with a package, in build order; the names are those of the folders. */
export const languages: Readonly<Record<string, Language>> = {
  typescript: {
    tools: [{ version: ["node", "--version"], least: [22, 18] }],
    fetch: [["npm", "ci", "--no-audit", "--no-fund"]],
    outputs: ["src/generated", "dist"],
    generate: {
      alsoFrom: ["proto/google/rpc/error_details.proto", "proto/google/api/httpbody.proto"],
      plugins: [
        {
          local: "protoc-gen-es",
          out: "sdk/typescript/src/generated",
          opt: ["target=ts", "import_extension=js"],
        },
        serviceList("typescript", "sdk/typescript/src/generated"),
      ],
    },
    build: [["tsc"], ["tsc", "--project", "test"], ["npm", "pack", "--silent"]],
    smoke: [
      ["node", "--test", "test/client.test.ts"],
      ["node", "test/smoke.ts"],
      ["node", "test/first-link.ts"],
    ],
    journey: ["node", "test/journey.ts"],
    example: "test/first-link.ts",
  },
  python: {
    tools: [{ version: ["python3", "--version"], least: [3, 11] }],
    fetch: [
      ["python3", "-m", "venv", "build/venv"],
      [...pip, "install", "--requirement", "requirements-build.txt"],
    ],
    outputs: [
      "src/signpost/v1",
      "src/signpost/options",
      "src/signpost/services.py",
      "build/lib",
      "build/wheel",
    ],
    generate: {
      plugins: [
        {
          protoc_builtin: "python",
          protoc_path: [`sdk/python/${pythonBin}/python`, "-m", "grpc_tools.protoc"],
          out: "sdk/python/src",
        },
        {
          local: [`sdk/python/${pythonBin}/python`, "sdk/python/protoc_gen_grpc_python.py"],
          out: "sdk/python/src",
          strategy: "all",
        },
        { local: `sdk/python/${pythonBin}/protoc-gen-mypy`, out: "sdk/python/src", opt: "quiet" },
        { local: `sdk/python/${pythonBin}/protoc-gen-mypy_grpc`, out: "sdk/python/src", opt: "quiet" },
        serviceList("python", "sdk/python/src"),
      ],
    },
    build: [
      [...pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "build/wheel", "."],
      // The smoke test runs on the packed package, not on the sources.
      [
        ...pip,
        "install",
        "--force-reinstall",
        "--no-deps",
        "--no-index",
        "--find-links",
        "build/wheel",
        "signpost-client",
      ],
      [...pip, "check"],
      [`${pythonBin}/mypy`],
    ],
    smoke: [
      [`${pythonBin}/python`, "-m", "unittest", "discover", "--start-directory", "test"],
      [`${pythonBin}/python`, "test/smoke.py"],
      [`${pythonBin}/python`, "test/first_link.py"],
    ],
    journey: [`${pythonBin}/python`, "test/journey.py"],
    example: "test/first_link.py",
  },
  go: {
    // Go itself downloads the version that go.mod asks for.
    tools: [{ version: ["go", "version"], least: [1, 21] }],
    fetch: [["go", "mod", "download"]],
    outputs: ["v1", "options", "services.go"],
    generate: {
      managed: {
        enabled: true,
        disable: [{ path: "google" }],
        override: [
          { file_option: "go_package", path: "signpost/v1", value: `${goModule}/v1;signpostv1` },
          { file_option: "go_package", path: "signpost/options", value: `${goModule}/options/v1;optionsv1` },
        ],
      },
      plugins: [
        { local: ["go", "-C", "sdk/go", "tool", "protoc-gen-go"], out: "sdk/go", opt: `module=${goModule}` },
        {
          local: ["go", "-C", "sdk/go", "tool", "protoc-gen-connect-go"],
          out: "sdk/go",
          opt: [`module=${goModule}`, "simple"],
        },
        serviceList("go", "sdk/go"),
      ],
    },
    build: [
      ["gofmt", "-w", "services.go"],
      ["go", "build", "./..."],
      ["go", "vet", "./..."],
    ],
    smoke: [
      ["go", "test", "./..."],
      ["go", "run", "./smoke"],
      ["go", "run", "./firstlink"],
    ],
    journey: ["go", "run", "./journey"],
    example: "firstlink/main.go",
  },
  java: {
    tools: [
      { version: ["javac", "--version"], least: [17, 0] },
      { version: ["mvn", "--version"], least: [3, 6] },
    ],
    fetch: [
      [...maven, "dependency:copy@compilers"],
      ["chmod", "+x", `${javaCompilers}/protoc`, `${javaCompilers}/protoc-gen-grpc-java`],
    ],
    outputs: [javaSources, "target"],
    generate: {
      managed: {
        enabled: true,
        disable: [{ path: "google" }],
        override: [
          { file_option: "java_package", path: "signpost/v1", value: "signpost.v1" },
          { file_option: "java_package", path: "signpost/options", value: "signpost.options.v1" },
        ],
      },
      plugins: [
        {
          protoc_builtin: "java",
          protoc_path: `sdk/java/${javaCompilers}/protoc`,
          out: `sdk/java/${javaSources}`,
        },
        { local: `sdk/java/${javaCompilers}/protoc-gen-grpc-java`, out: `sdk/java/${javaSources}` },
        serviceList("java", `sdk/java/${javaSources}`),
      ],
    },
    build: [[...maven, "package", "-DskipTests"]],
    smoke: [[...maven, "test", "exec:java"]],
    journey: [...maven, "test-compile", "exec:java", "-Dexec.mainClass=signpost.Journey"],
    example: "src/test/java/signpost/FirstLink.java",
  },
  rust: {
    tools: [{ version: ["cargo", "--version"], least: [1, 88] }],
    fetch: [["cargo", "fetch", "--locked", "--quiet"]],
    outputs: ["signpost.binpb"],
    build: [
      [
        "buf",
        "build",
        "../..",
        "--path",
        "../../proto/signpost/v1",
        "--path",
        "../../proto/signpost/options",
        "-o",
        "signpost.binpb",
        "--as-file-descriptor-set",
      ],
      ["cargo", "build", "--all-targets"],
      // The package includes the descriptors, which are not committed.
      ["cargo", "package", "--no-verify", "--allow-dirty", "--quiet"],
    ],
    smoke: [
      ["cargo", "test", "--quiet"],
      ["cargo", "run", "--quiet", "--example", "smoke"],
      ["cargo", "run", "--quiet", "--example", "first_link"],
    ],
    journey: ["cargo", "run", "--quiet", "--example", "journey"],
    example: "examples/first_link.rs",
  },
};

function serviceList(language: string, out: string): object {
  return { local: ["node", "sdk/service-lists.ts"], out, opt: language, strategy: "all" };
}
