import { create, createFileRegistry } from "@bufbuild/protobuf";
import {
  type CodeGeneratorRequest,
  type CodeGeneratorResponse,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { getComments, runNodeJs } from "@bufbuild/protoplugin";
import { referenceOf } from "../reference/reference-text.ts";
import { toolsOf } from "../tools/tools-file.ts";
import type { ReadComment } from "./comments.ts";
import { openapiDocument } from "./document.ts";

// A protoc plugin that writes openapi.json and tools.json. It is a plugin because only plugins receive the comments of proto
// files.
runNodeJs({ name: "protoc-gen-signpost-openapi", version: "v1", run });

function run(request: CodeGeneratorRequest): CodeGeneratorResponse {
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: request.protoFile }));
  const all = [...request.fileToGenerate]
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((name) => registry.getFile(name)?.services ?? []);
  const services = all.filter(({ file }) => file.proto.package === "signpost.v1");
  const tasks = all.filter(({ file }) => file.proto.package === "signpost.tasks.v1");
  const errorReason = registry.getEnum("signpost.v1.ErrorReason");
  const error = registry.getMessage("signpost.v1.ErrorBody");
  if (errorReason === undefined || error === undefined)
    throw new Error("signpost.v1 lacks ErrorBody or ErrorReason");
  const readComment: ReadComment = (desc) => getComments(desc).leading;
  const document = openapiDocument({ services, errorReason, error, readComment });
  const tools = toolsOf([...services, ...tasks], readComment);
  const toolOf = (operationId: string) => tools[`signpost.v1.${operationId.replace("_", "/")}`]?.name;
  // The document is written as JSON, whose parts the reference tells of.
  const reference = referenceOf(JSON.parse(JSON.stringify(document)), toolOf);
  return create(CodeGeneratorResponseSchema, {
    supportedFeatures: BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL),
    file: [
      { name: "openapi.json", content: `${JSON.stringify(document, undefined, 1)}\n` },
      { name: "tools.json", content: `${JSON.stringify(tools, undefined, 1)}\n` },
      { name: "reference.json", content: `${JSON.stringify(reference, undefined, 1)}\n` },
    ],
  });
}
