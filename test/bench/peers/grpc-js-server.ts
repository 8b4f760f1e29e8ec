import { create, fromBinary, type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import grpc from "@grpc/grpc-js";
import {
  ListApiScopesRequestSchema,
  ListApiScopesResponseSchema,
} from "../../../gen/signpost/v1/api_scopes_service_pb.js";
import { apiScopesService } from "../../../src/api/api-scopes/service.ts";
import type { Context } from "../../../src/rpc/handlers.ts";

// The handler of the service behind the usual gRPC library for Node.
const { list } = apiScopesService();
// The handler uses neither caller nor database.
const context = {} as Context;

const server = new grpc.Server();
server.addService(
  {
    list: {
      path: "/signpost.v1.ApiScopesService/List",
      requestStream: false,
      responseStream: false,
      requestSerialize: (message) => Buffer.from(toBinary(ListApiScopesRequestSchema, message)),
      requestDeserialize: (bytes) => fromBinary(ListApiScopesRequestSchema, bytes),
      responseSerialize: (message: MessageInitShape<typeof ListApiScopesResponseSchema>) =>
        Buffer.from(toBinary(ListApiScopesResponseSchema, create(ListApiScopesResponseSchema, message))),
      responseDeserialize: (bytes) => fromBinary(ListApiScopesResponseSchema, bytes),
    },
  },
  {
    list: ((call, done) => {
      list(call.request, context).then((message) => done(null, message), done);
    }) satisfies grpc.handleUnaryCall<MessageShape<typeof ListApiScopesRequestSchema>, unknown>,
  },
);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.send?.({ port });
});
process.on("disconnect", () => process.exit());
