import { join } from "node:path";
import { createFileRegistry, fromBinary, getOption } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { describe, expect, onTestFinished, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { EchoService } from "../../gen/signpost/testing/v1/echo_pb.js";
import { echoing, serveEcho } from "../../test/support/echo-server.ts";
import { routeHealth } from "./health.ts";
import { routeReflection } from "./reflection.ts";

const echoName = "signpost.testing.v1.EchoService";

async function serve() {
  let ready = true;
  const { port } = await serveEcho(echoing().invoke, {
    fast: false,
    otherRoutes: (router) => {
      routeHealth(router, { services: [echoName], ready: async () => ready, watchMs: 5 });
      routeReflection(router, [EchoService, Health]);
    },
  });
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
  const setReady = (value: boolean) => {
    ready = value;
  };
  return { port, transport, setReady };
}

describe("the health service", () => {
  test("says whether calls can be answered, for each service and for all", async () => {
    const { transport, setReady } = await serve();
    const client = createClient(Health, transport);
    expect((await client.check({})).status).toBe(Status.SERVING);
    setReady(false);
    expect((await client.check({ service: echoName })).status).toBe(Status.NOT_SERVING);
    expect(Object.keys((await client.list({})).statuses)).toEqual(["", echoName]);
  });

  test("knows no other service", async () => {
    const { transport } = await serve();
    const thrown = await createClient(Health, transport).check({ service: "a.B" }).catch(ConnectError.from);
    expect(thrown).toMatchObject({ code: Code.NotFound });
  });

  test("tells a watcher of each change", async () => {
    const { transport, setReady } = await serve();
    const seen: Status[] = [];
    for await (const { status } of createClient(Health, transport).watch({})) {
      seen.push(status);
      setReady(seen.length !== 1);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
  });
});

describe("server reflection", () => {
  type Question = NonNullable<Parameters<ReturnType<typeof clientOf>>[0]>;

  function clientOf(transport: ReturnType<typeof createGrpcTransport>) {
    const client = createClient(ServerReflection, transport);
    return async (messageRequest: {
      case: "listServices" | "fileByFilename" | "fileContainingSymbol";
      value: string;
    }) => {
      const answers = client.serverReflectionInfo(one({ messageRequest }));
      for await (const answer of answers) return answer.messageResponse;
      throw new Error("no answer");
    };
  }

  async function* one<T>(value: T) {
    yield value;
  }

  async function filesFor(question: Question): Promise<FileDescriptorProto[]> {
    const { transport } = await serve();
    const answer = await clientOf(transport)(question);
    if (answer.case !== "fileDescriptorResponse") throw new Error(answer.case);
    return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  }

  test("lists the services", async () => {
    const { transport } = await serve();
    const answer = await clientOf(transport)({ case: "listServices", value: "" });
    expect(answer).toMatchObject({
      value: { service: [{ name: echoName }, { name: "grpc.health.v1.Health" }] },
    });
  });

  test("gives everything that is needed to call a service, with its options", async () => {
    const file = await filesFor({ case: "fileContainingSymbol", value: echoName });
    const registry = createFileRegistry({ $typeName: FileDescriptorSetSchema.typeName, file });
    const method = registry.getService(echoName)?.method.echo;
    expect(method && getOption(method, http).pattern).toEqual({ case: "get", value: "/v1/echo" });
  });

  test.each([`${echoName}.Echo`, "signpost.testing.v1.EchoRequest", "signpost.testing.v1.EchoRequest.text"])(
    "finds the file of %s",
    async (value) => {
      const files = await filesFor({ case: "fileContainingSymbol", value });
      expect(files.at(-1)?.name).toBe("signpost/testing/v1/echo.proto");
    },
  );

  test("finds a file by its name", async () => {
    const files = await filesFor({ case: "fileByFilename", value: "google/api/annotations.proto" });
    expect(files.map(({ name }) => name)).toEqual([
      "google/api/http.proto",
      "google/protobuf/descriptor.proto",
      "google/api/annotations.proto",
    ]);
  });

  test.each([
    { case: "fileByFilename", value: "nothing.proto" },
    { case: "fileContainingSymbol", value: "nothing.v1.Nothing" },
    { case: "fileContainingSymbol", value: `${echoName}.Nothing` },
    { case: "fileContainingSymbol", value: "" },
  ] as const)("says NOT_FOUND for %j", async (question) => {
    const { transport } = await serve();
    const answer = await clientOf(transport)(question);
    expect(answer).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
  });

  test("answers the older version, several questions in one stream", async () => {
    const { port } = await serve();
    const includeDirs = [join(import.meta.dirname, "../../proto")];
    const loaded = loadSync("grpc/reflection/v1alpha/reflection.proto", { includeDirs, keepCase: true });
    const root = grpc.loadPackageDefinition(loaded);
    const path = ["grpc", "reflection", "v1alpha", "ServerReflection"];
    const Client = path.reduce<object>(
      (parent, name) => Reflect.get(parent, name),
      root,
    ) as typeof grpc.Client;
    const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    onTestFinished(() => client.close());
    const stream: grpc.ClientDuplexStream<object, Record<string, Record<string, unknown[]>>> = Reflect.get(
      client,
      "ServerReflectionInfo",
    ).call(client);
    stream.write({ list_services: "" });
    stream.write({ all_extension_numbers_of_type: "google.protobuf.MethodOptions" });
    stream.write({
      file_containing_extension: {
        containing_type: "google.protobuf.MethodOptions",
        extension_number: 72295728,
      },
    });
    stream.end();
    const answers = [];
    for await (const answer of stream) answers.push(answer);
    expect(answers[0]?.list_services_response?.service).toHaveLength(2);
    expect(answers[1]?.all_extension_numbers_response?.extension_number).toContain(72295728);
    expect(answers[2]?.file_descriptor_response?.file_descriptor_proto).toHaveLength(3);
  });
});
