import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
} from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import {
  ServerReflection as ServerReflectionAlpha,
  type ServerReflectionRequest as ServerReflectionRequestAlpha,
} from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { codeNumbers } from "../../lib/errors.ts";
import type { AddressCount } from "../../lib/limits/address-count.ts";
import { clientAddressKey, counted } from "./strangers.ts";

// Both versions have the same questions and answers, under different package names.
type Question = (ServerReflectionRequest | ServerReflectionRequestAlpha)["messageRequest"];

interface Index {
  readonly services: readonly string[];
  readonly files: ReadonlyMap<string, DescFile>;
  readonly registry: Registry;
  /** The bytes of a file's descriptor, written once per file. */
  readonly bytesOf: (file: DescFile) => Uint8Array;
}

export interface ReflectionOptions {
  readonly services: readonly DescService[];
  /** Limits the streams of callers without a token. */
  readonly streams: AddressCount;
  /** Waits until the address may ask once more. Rejects with the signal's reason. */
  readonly pace: (address: string, signal: AbortSignal) => Promise<void>;
}

/** The most questions of one stream; a tool that looks at every type needs fewer. */
const questionsMax = 500;

/** Serves gRPC's server reflection in version 1 and in v1alpha, the older version that most tools ask first. */
export function routeReflection(router: ConnectRouter, { services, streams, pace }: ReflectionOptions): void {
  const files = new Map<string, DescFile>();
  for (const { file } of services) collect(file, files);
  const registry = createRegistry(...files.values());
  const index = {
    services: services.map(({ typeName }) => typeName),
    files,
    registry,
    bytesOf: rememberedBytes(),
  };

  async function* answers<Request extends { readonly host: string; readonly messageRequest: Question }>(
    requests: AsyncIterable<Request>,
    { values, signal }: HandlerContext,
  ) {
    let questions = 0;
    for await (const request of requests) {
      questions += 1;
      if (questions > questionsMax)
        throw new ConnectError(`a stream has at most ${questionsMax} questions`, Code.ResourceExhausted);
      await pace(values.get(clientAddressKey), signal);
      const messageResponse = answer(index, request.messageRequest);
      yield { validHost: request.host, originalRequest: request, messageResponse };
    }
  }

  router.service(ServerReflection, {
    serverReflectionInfo: (requests, context) => counted(streams, context, () => answers(requests, context)),
  });
  router.service(ServerReflectionAlpha, {
    serverReflectionInfo: (requests, context) => counted(streams, context, () => answers(requests, context)),
  });
}

function rememberedBytes(): Index["bytesOf"] {
  const written = new Map<DescFile, Uint8Array>();
  return (file) => {
    const bytes = written.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
    written.set(file, bytes);
    return bytes;
  };
}

function answer(index: Index, question: Question) {
  switch (question.case) {
    case "listServices":
      return {
        case: "listServicesResponse" as const,
        value: { service: index.services.map((name) => ({ name })) },
      };
    case "fileByFilename":
      return fileAnswer(index, index.files.get(question.value), question.value);
    case "fileContainingSymbol":
      return fileAnswer(index, fileOf(index.registry, question.value), question.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const numbered = extensionsOf(index.registry, containingType).find(
        ({ number }) => number === extensionNumber,
      );
      return fileAnswer(index, numbered?.file, `extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      if (index.registry.getMessage(question.value) === undefined) return notFound(question.value);
      const extensionNumber = extensionsOf(index.registry, question.value).map(({ number }) => number);
      return {
        case: "allExtensionNumbersResponse" as const,
        value: { baseTypeName: question.value, extensionNumber },
      };
    }
    case undefined:
      return refusal(codeNumbers.INVALID_ARGUMENT, "the request has no question");
  }
}

// Every file comes after the files it imports, so that a client can build them in order.
function fileAnswer({ bytesOf }: Index, file: DescFile | undefined, asked: string) {
  if (file === undefined) return notFound(asked);
  const needed = new Map<string, DescFile>();
  collect(file, needed);
  const fileDescriptorProto = [...needed.values()].map(bytesOf);
  return { case: "fileDescriptorResponse" as const, value: { fileDescriptorProto } };
}

function collect(file: DescFile, into: Map<string, DescFile>): void {
  if (into.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collect(dependency, into);
  into.set(file.proto.name, file);
}

/** The file that declares a type or service, or that declares the owner of a method or field. */
function fileOf(registry: Registry, symbol: string): DescFile | undefined {
  const own = registry.get(symbol);
  if (own !== undefined) return own.file;
  const owner = registry.get(symbol.slice(0, symbol.lastIndexOf(".")));
  const member = symbol.slice(symbol.lastIndexOf(".") + 1);
  switch (owner?.kind) {
    case "service":
      return owner.methods.some(({ name }) => name === member) ? owner.file : undefined;
    case "message":
      return owner.members.some(({ name }) => name === member) ? owner.file : undefined;
    default:
      return undefined;
  }
}

function extensionsOf(registry: Registry, typeName: string) {
  return [...registry]
    .filter((desc) => desc.kind === "extension")
    .filter(({ extendee }) => extendee.typeName === typeName);
}

function notFound(asked: string) {
  return refusal(codeNumbers.NOT_FOUND, `there is no ${asked.slice(0, 200)}`);
}

function refusal(errorCode: number, errorMessage: string) {
  return { case: "errorResponse" as const, value: { errorCode, errorMessage } };
}
