import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { findDirectory } from "../steps/directories.ts";
import { lineOf, linkFinding, summariesOf } from "../steps/find-link.ts";
import { defineTask, read } from "../steps/task.ts";
import { counted } from "../steps/words.ts";

const orders: Readonly<Record<string, object>> = {
  most_visited: { sortBy: "LINK_SORT_FIELD_EVENT_COUNT" },
  name: { sortBy: "LINK_SORT_FIELD_NAME", sortDirection: "SORT_DIRECTION_ASC" },
};

/** Lists links in short. */
export const findLinks = defineTask(
  TasksService.method.findLinks,
  linkFinding,
  function* ({ search, tags, directory, order, limit, page }) {
    const inDirectory = directory === "" ? undefined : yield* findDirectory(directory);
    const { links, totalCount, nextPageToken } = yield* read("list the links", LinksService.method.list, {
      search,
      tags,
      include: ["tags"],
      pageSize: limit || 10,
      pageToken: page,
      ...orders[order],
      ...(inDirectory && { view: "LINK_VIEW_DIRECTORY", directoryId: inDirectory }),
    });
    const total = Number(totalCount);
    const more = nextPageToken === "" ? [] : ["There are more: call again with page set to nextPage."];
    return {
      result: { links: yield* summariesOf(links), total, nextPage: nextPageToken },
      text: [`${counted(total, "link")} found.`, ...more, ...links.map((link) => `- ${lineOf(link)}`)],
    };
  },
);
