import { createRegistry } from "@bufbuild/protobuf";
import {
  type CreateLinkRequest,
  CreateLinkRequestSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { linkChecks } from "../../api/links/rules.ts";
import { CallError, type FieldViolation } from "../../lib/errors.ts";
import { createDecoders } from "../../rest/decode.ts";
import { checkRequest } from "../../rpc/pipeline/validate.ts";
import type { JsonObject } from "../operations/flag-values.ts";
import { findCommand, loadGroup } from "../operations/groups.ts";

/**
 * Only the service knows its own short domain, its limits and its other records. The rules that need them are left to
 * it.
 */
const elsewhere = { shortUrl: "https://short.invalid", bulkJobLinks: Number.POSITIVE_INFINITY };

/** What is wrong with the request for a link, by the rules of the service. */
export type CheckRow = (request: JsonObject) => readonly FieldViolation[];

/** Reads and checks requests with the service's own code. */
export async function createRowCheck(now: () => Date): Promise<CheckRow> {
  const create = findCommand(await loadGroup("links"), "create");
  if (create === undefined) throw new Error("the interface creates links");
  const decode = createDecoders(createRegistry())(create.binding);
  const { redirect } = linkChecks({ ...elsewhere, now });
  return (request) => {
    try {
      const body = Buffer.from(JSON.stringify(request));
      // The command's own request.
      const message = decode({ segments: [], query: "", body, contentType: undefined }) as CreateLinkRequest;
      return faultsOf(checkRequest(message, CreateLinkRequestSchema, () => redirect(message)));
    } catch (error) {
      if (error instanceof CallError) return faultsOf(error);
      throw error;
    }
  };
}

function faultsOf(error: CallError | undefined): readonly FieldViolation[] {
  if (error === undefined) return [];
  return error.refusal.fields ?? [{ field: "", description: error.message }];
}
