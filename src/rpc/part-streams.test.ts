import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import {
  AssistantSendMessageResponseSchema,
  AssistantService,
} from "../../gen/signpost/v1/assistant_service_pb.js";
import { lastPart, streamOf, streamsOf } from "./part-streams.ts";

const { sendMessage, streamMessage } = AssistantService.method;

test("a stream is found with the method whose parts it tells, and its last part is the whole answer", () => {
  expect(streamOf(sendMessage)).toBeUndefined();
  const [stream, ...others] = streamsOf([AssistantService]);
  expect([stream?.method, stream?.unary, others]).toEqual([streamMessage, sendMessage, []]);
  if (stream === undefined) throw new Error("there is no stream");
  const answer = create(AssistantSendMessageResponseSchema, { responseText: "All of it" });
  expect(lastPart(stream, answer)).toMatchObject({
    part: { case: "answer", value: { responseText: "All of it" } },
  });
});

test("a stream that tells the parts of no unary method is refused", () => {
  expect(() => streamsOf([ServerReflection])).toThrow(/only unary methods and streams of their parts/);
});
