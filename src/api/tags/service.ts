import { create } from "@bufbuild/protobuf";
import { TagSchema } from "../../../gen/signpost/v1/tag_pb.js";
import type { TagsService } from "../../../gen/signpost/v1/tags_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import { toTag } from "../resources/tag.ts";
import { deleteTag, listTags } from "./queries.ts";

export function tagsService(): Handlers<typeof TagsService> {
  return {
    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const { search } = request;
      const filters = { workspaceId, search };
      const page = readPage(request, { key: "time", sort: "tags newest first", filters });
      const { records, nextPageToken } = await fillPage(page, {
        rows: await listTags(context.db, workspaceId, search, page),
        edgeOf: (row) => ({ key: row.created_at, id: row.id }),
        recordOf: (row) => create(TagSchema, toTag(row)),
        write: (tag) => context.writeRecord(TagSchema, tag),
      });
      return { tags: records, nextPageToken };
    },

    async delete({ name }, context) {
      const { workspaceId } = callerOf(context);
      const isDeleted = await inTransaction(context.db, (tx) => deleteTag(tx, workspaceId, name));
      if (!isDeleted)
        throw fail("NOT_FOUND", "NOT_FOUND", `name: there is no tag "${name}" in this workspace`);
      return {};
    },
  };
}
