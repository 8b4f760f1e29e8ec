/**
 * A protoc plugin that writes what the languages' own plugins lack: one list of all services, so that a client reaches
 * each by its name and nobody maintains the list by hand. Its parameter is a language.
 */
import { create, createFileRegistry, type DescService, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

interface ServiceList {
  readonly name: string;
  readonly content: (services: readonly DescService[]) => string;
}

const serviceLists: Readonly<Record<string, ServiceList>> = {
  typescript: {
    name: "services.ts",
    content: (services) => `// Generated from the protos; do not edit.
${services.map((service) => `export { ${service.name} as ${camelCase(service)} } from "./${service.file.name}_pb.js";\n`).join("")}`,
  },
  python: {
    name: "signpost/services.py",
    content: (services) => `"""Every service's stub by its name. Generated from the protos; do not edit."""

import grpc

${services.map((service) => `from signpost.v1 import ${moduleOf(service)}\n`).join("")}

class Services:
    """A stub of every service on one channel."""

    def __init__(self, channel: grpc.Channel) -> None:
${services.map((service) => `        self.${snakeCase(service)} = ${moduleOf(service)}.${service.name}Stub(channel)\n`).join("")}`,
  },
  go: {
    name: "services.go",
    content: (services) => `// Code generated from the protos. DO NOT EDIT.

package signpost

import (
	"connectrpc.com/connect"
	"signpost.example/signpost/v1/signpostv1connect"
)

// Services is a client of every service.
type Services struct {
${services.map((service) => `\t${shortName(service)} signpostv1connect.${service.name}Client\n`).join("")}}

func newServices(httpClient connect.HTTPClient, baseURL string, options ...connect.ClientOption) Services {
	return Services{
${services.map((service) => `\t\t${shortName(service)}: signpostv1connect.New${service.name}Client(httpClient, baseURL, options...),\n`).join("")}	}
}
`,
  },
  java: {
    name: "signpost/Services.java",
    content: (services) => `package signpost;

/** A blocking stub of every service by its name, on one channel. Generated from the protos; do not edit. */
public interface Services {
  /** The channel of the stubs. */
  io.grpc.Channel channel();
${services.map((service) => javaStub(service)).join("")}}
`,
  },
};

const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk);
process.stdout.write(answer(Buffer.concat(chunks)));

function answer(bytes: Uint8Array): Uint8Array {
  const { parameter, protoFile, fileToGenerate } = fromBinary(CodeGeneratorRequestSchema, bytes);
  const supportedFeatures = BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL);
  const list = serviceLists[parameter];
  if (list === undefined) {
    const error = `no list for "${parameter}"; there are ${Object.keys(serviceLists).join(", ")}`;
    return toBinary(
      CodeGeneratorResponseSchema,
      create(CodeGeneratorResponseSchema, { supportedFeatures, error }),
    );
  }
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: protoFile }));
  const services = fileToGenerate
    .toSorted()
    .flatMap((name) => registry.getFile(name)?.services ?? [])
    .filter(({ file }) => file.proto.package === "signpost.v1");
  const file = [{ name: list.name, content: list.content(services) }];
  return toBinary(
    CodeGeneratorResponseSchema,
    create(CodeGeneratorResponseSchema, { supportedFeatures, file }),
  );
}

function shortName({ name }: DescService): string {
  return name.replace(/Service$/, "");
}

function camelCase(service: DescService): string {
  return shortName(service).replace(/^./, (letter) => letter.toLowerCase());
}

function snakeCase(service: DescService): string {
  return camelCase(service).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function moduleOf({ file }: DescService): string {
  return `${file.name.split("/").at(-1)}_pb2_grpc`;
}

function javaStub(service: DescService): string {
  const { name } = service;
  return `
  /** The calls of ${name}. */
  default signpost.v1.${name}Grpc.${name}BlockingStub ${camelCase(service)}() {
    return signpost.v1.${name}Grpc.newBlockingStub(channel());
  }
`;
}
