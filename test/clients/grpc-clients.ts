import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject } from "@bufbuild/protobuf";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { codeNumbers } from "../../src/lib/errors.ts";
import { readStatus } from "../bad-input/send-grpc.ts";
import { root } from "../support/start-service.ts";
import type { Answer, Client } from "./client.ts";

const serviceFiles = ["links", "events", "workspace_tokens", "api_scopes"].map(
  (name) => `signpost/v1/${name}_service.proto`,
);

/** grpc-js with stubs made at run time from the proto files; it shares no code with the service. */
export function grpcJsClient(address: string): Client {
  const definition = loadSync(serviceFiles, {
    includeDirs: [join(root, "proto")],
    longs: String,
    enums: String,
    json: true,
    defaults: true,
  });
  const tree = grpc.loadPackageDefinition(definition);
  const services = Reflect.get(Reflect.get(tree, "signpost"), "v1");
  const stubs = new Map<string, grpc.Client>();
  const stubOf = (service: string): grpc.Client => {
    const stub =
      stubs.get(service) ?? new (Reflect.get(services, service))(address, grpc.credentials.createInsecure());
    stubs.set(service, stub);
    return stub;
  };
  return {
    name: "grpc-js",
    close: () => {
      for (const stub of stubs.values()) stub.close();
    },
    call: (rpc, request, token) => {
      const [service = "", method = ""] = rpc.split("/");
      const stub = stubOf(service);
      const metadata = new grpc.Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      return new Promise<Answer>((resolve) => {
        Reflect.get(stub, method).call(
          stub,
          plain(request),
          metadata,
          (error: grpc.ServiceError | null, answer: never) => {
            resolve(error === null ? { ok: answer } : { error: describe(error) });
          },
        );
      });
    },
  };
}

/** proto-loader knows the messages of google.protobuf only as messages, not in their JSON form. */
function plain(request: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => {
      if (name === "updateMask") return [name, { paths: String(value).split(",").map(snakeCase) }];
      if (name.endsWith("Date")) return [name, { seconds: Date.parse(String(value)) / 1000, nanos: 0 }];
      return [name, value];
    }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function describe(error: grpc.ServiceError) {
  const [details] = error.metadata.get("grpc-status-details-bin");
  const names = Object.entries(codeNumbers);
  return {
    code: names.find(([, number]) => number === error.code)?.[0],
    status: undefined,
    message: error.details,
    ...readStatus(Buffer.from(details ?? "")),
  };
}

const python = process.env.PYTHON ?? "python3";

/** Whether this machine has Python's gRPC. With `CI=true` it must. */
export function hasPythonGrpc(): boolean {
  const { status } = spawnSync(python, ["-c", "import grpc, grpc_reflection, google.rpc.status_pb2"]);
  if (status === 0) return true;
  if (process.env.CI === "true")
    throw new Error(`${python} has no gRPC: pip install grpcio grpcio-reflection googleapis-common-protos`);
  return false;
}

/** Python's gRPC, which reads the interface from the running service. It makes one call at a time. */
export function pythonClient(address: string): Client {
  const script = join(root, "test/clients/reflection.py");
  const child = spawn(python, [script, address], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name: "Python",
    close: () => child.stdin.end(),
    call: async (rpc, request, token) => {
      child.stdin.write(`${JSON.stringify({ token, method: `signpost.v1.${rpc}`, request })}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the Python client ended");
      const answer = JSON.parse(value);
      return "error" in answer ? { error: { ...answer.error, status: undefined } } : answer;
    },
  };
}
