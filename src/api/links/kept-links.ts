import { fromBinary } from "@bufbuild/protobuf";
import { sizeDelimitedEncode, sizeDelimitedPeek } from "@bufbuild/protobuf/wire";
import {
  type CreateLinkRequest,
  CreateLinkRequestSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { mapInTurns } from "../../lib/limits/loop-turns.ts";

/** The links of a job as they are kept: each with its size before it, so that no step takes all at once. */
export async function writeLinks(links: readonly CreateLinkRequest[]): Promise<Buffer> {
  return Buffer.concat(await mapInTurns(links, (link) => sizeDelimitedEncode(CreateLinkRequestSchema, link)));
}

/** Reads kept links one by one. */
export function* readLinks(kept: Uint8Array): Generator<CreateLinkRequest> {
  for (let at = 0; at < kept.length; ) {
    const { size, offset } = sizeDelimitedPeek(kept.subarray(at));
    if (size === null) throw new Error("the links of a job are damaged");
    yield fromBinary(CreateLinkRequestSchema, kept.subarray(at + offset, at + offset + size));
    at += offset + size;
  }
}
