import {
  create,
  type DescField,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  getOption,
  type Message,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { tells_parts_of } from "../../gen/signpost/options/v1/handling_pb.js";

/** A server stream that tells the answer of a unary method in parts. */
export interface PartStream {
  readonly method: DescMethodServerStreaming;
  /** The method that handles the call. */
  readonly unary: DescMethodUnary;
  /** The field of the last part that holds the whole answer. */
  readonly answerField: DescField;
}

/** The stream that a method is. Undefined for unary methods; throws for a stream that is no form of one. */
export function streamOf(method: DescMethod): PartStream | undefined {
  if (isUnary(method)) return undefined;
  const name = getOption(method, tells_parts_of);
  const unary = method.parent.methods.filter(isUnary).find((other) => other.name === name);
  const answerField = method.output.fields.find(({ message }) => message === unary?.output);
  if (!isServerStream(method) || unary?.input !== method.input || answerField === undefined)
    throw new Error(
      `${method.parent.typeName}/${method.name}: only unary methods and streams of their parts are served`,
    );
  return { method, unary, answerField };
}

/** The part that ends a stream. */
export function lastPart({ method, answerField }: PartStream, answer: Message): Message {
  const part = create(method.output);
  reflect(method.output, part).set(answerField, reflect(answerField.message ?? method.output, answer));
  return part;
}

/** The streams of some services. */
export function streamsOf(services: readonly DescService[]): PartStream[] {
  return services.flatMap(({ methods }) => methods).flatMap((method) => streamOf(method) ?? []);
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isServerStream(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}
