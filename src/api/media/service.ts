import { create } from "@bufbuild/protobuf";
import { MediaSchema } from "../../../gen/signpost/v1/media_pb.js";
import type { MediaService } from "../../../gen/signpost/v1/media_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers, inTwoParts } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { prepareMedia } from "./create-media.ts";
import { toMedia } from "./message.ts";
import { deleteMedia, findMedia, listMedia } from "./queries.ts";

export function mediaService(deps: Deps): Handlers<typeof MediaService> {
  return {
    create: inTwoParts((request, context) => prepareMedia(deps, request, context)),

    async get({ id }, context) {
      const row = await findMedia(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw noSuchMedia(id);
      return { media: toMedia(deps, row) };
    },

    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const page = readPage(request, { key: "time", sort: "media newest first", filters: { workspaceId } });
      const rows = await listMedia(context.db, workspaceId, page);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: (row) => ({ key: row.created_at, id: row.id }),
        recordOf: (row) => create(MediaSchema, toMedia(deps, row)),
        write: (media) => context.writeRecord(MediaSchema, media),
      });
      return { media: records, nextPageToken };
    },

    async delete({ id }, context) {
      const { workspaceId } = callerOf(context);
      const { outcome, keys } = await inTransaction(context.db, (tx) =>
        deleteMedia(tx, workspaceId, id, deps.now()),
      );
      if (outcome === "missing") throw noSuchMedia(id);
      if (outcome === "in use")
        throw fail(
          "FAILED_PRECONDITION",
          "MEDIA_IN_USE",
          `a page theme uses media file ${id}: choose another image for the theme first`,
        );
      // The files are deleted at once, because public addresses do not expire. The clean-up deletes them if this fails.
      context.afterCommit(async () => {
        await Promise.all(keys.map((key) => deps.storage.delete(key).catch(() => {})));
        return {};
      });
      return {};
    },
  };
}

function noSuchMedia(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `there is no media file ${id} in this workspace`);
}
