import http2 from "node:http2";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
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
import { http } from "../../../gen/google/api/annotations_pb.js";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { EchoService } from "../../../gen/signpost/testing/v1/echo_pb.js";
import { echoing, serveEcho } from "../../../test/support/echo-server.ts";
import { createAddressCount } from "../../lib/limits/address-count.ts";
import { routeHealth } from "./health.ts";
import { type ReflectionOptions, routeReflection } from "./reflection.ts";

const echoName = "signpost.testing.v1.EchoService";

async function serve({ pace = async () => {} }: Partial<Pick<ReflectionOptions, "pace">> = {}) {
  let ready = true;
  let looks = 0;
  const isReady = async () => {
    looks += 1;
    return ready;
  };
  const streams = createAddressCount({ total: 30, perAddress: 20 });
  const { port } = await serveEcho(echoing().invoke, {
    otherServices: [Health, ServerReflection, ServerReflectionAlpha],
    otherRoutes: (router) => {
      routeHealth(router, { services: [echoName], ready: isReady, streams, watchMs: 5 });
      routeReflection(router, { services: [EchoService, Health], streams, pace });
    },
  });
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
  const setReady = (value: boolean) => {
    ready = value;
  };
  return { port, transport, setReady, looks: () => looks };
}

describe("the health service", () => {
  test("says whether the service can answer calls, for each service and for all", async () => {
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

test("looks once for all watchers, and limits the watching streams of one address", async () => {
  const { transport, setReady, looks } = await serve();
  const client = createClient(Health, transport);
  const stopping = new AbortController();
  const watchers = Array.from({ length: 20 }, () =>
    client.watch({}, { signal: stopping.signal })[Symbol.asyncIterator](),
  );
  for (const watcher of watchers) expect((await watcher.next()).value?.status).toBe(Status.SERVING);
  const refused = await client.watch({})[Symbol.asyncIterator]().next().catch(ConnectError.from);
  expect(refused).toMatchObject({ code: Code.ResourceExhausted });
  const before = looks();
  setReady(false);
  const changed = await Promise.all(watchers.map((watcher) => watcher.next()));
  expect(changed.map(({ value }) => value?.status)).toEqual(watchers.map(() => Status.NOT_SERVING));
  // Without sharing, each of the twenty watchers would have looked for itself.
  expect(looks() - before).toBeLessThan(20);
  stopping.abort();
  await Promise.allSettled(watchers.map((watcher) => watcher.next()));
  const again = async () =>
    client
      .watch({})
      [Symbol.asyncIterator]()
      .next()
      .then(
        () => "let in",
        () => "refused",
      );
  await expect.poll(again, { timeout: 20_000 }).toBe("let in");
});

test.each([
  ["grpc-timeout", "99999999H", "application/grpc"],
  ["grpc-timeout", "99999999S", "application/grpc"],
  ["connect-timeout-ms", "9999999999", "application/proto"],
])("a call with a %s of %s is not over before it began", async (name, value, type) => {
  const { port } = await serve();
  for (const path of ["/grpc.health.v1.Health/Check", `/${echoName}/Echo`]) {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const headers = { ":method": "POST", ":path": path, "content-type": type, te: "trailers", [name]: value };
    const stream = session.request(headers);
    let status: unknown;
    stream.on("trailers", (trailers) => {
      status = trailers["grpc-status"];
    });
    stream.on("response", (head) => {
      status ??= type === "application/grpc" ? head["grpc-status"] : head[":status"];
    });
    stream.end(type === "application/grpc" ? Buffer.alloc(5) : undefined);
    await buffer(stream);
    expect([path, Number(status)]).toEqual([path, type === "application/grpc" ? 0 : 200]);
  }
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

  test("answers no faster than the rate of callers without a token, and ends a stream after a while", async () => {
    const paced: string[] = [];
    const { port } = await serve({ pace: async (address) => void paced.push(address) });
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
    async function* questions() {
      for (let count = 0; count < 600; count++)
        yield { host: "", messageRequest: { case: "listServices" as const, value: "" } };
    }
    let answers = 0;
    const asking = (async () => {
      for await (const _ of createClient(ServerReflection, transport).serverReflectionInfo(questions()))
        answers += 1;
    })();
    expect(await asking.catch(ConnectError.from)).toMatchObject({ code: Code.ResourceExhausted });
    expect([answers, paced.length, new Set(paced)]).toEqual([500, 500, new Set(["192.0.2.1"])]);
  });

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
    const includeDirs = [join(import.meta.dirname, "../../../proto")];
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
