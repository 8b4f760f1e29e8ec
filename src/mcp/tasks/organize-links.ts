import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  LinkSummarySchema,
  OrganizeLinksRequest,
} from "../../../gen/signpost/tasks/v1/link_tasks_pb.js";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import { DirectoriesService } from "../../../gen/signpost/v1/directories_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import { makeDirectory } from "../steps/directories.ts";
import { findLinks, linkFinding, summariesOf } from "../steps/find-link.ts";
import { defineTask, type Steps, write } from "../steps/task.ts";
import { counted } from "../steps/words.ts";
import type { Json } from "../tool.ts";

/** Tags links and moves them. */
export const organizeLinks = defineTask(
  TasksService.method.organizeLinks,
  [...linkFinding, LinksService.method.update, DirectoriesService.method.create],
  function* (request) {
    const { addTags, removeTags, directory, dryRun } = request;
    if (addTags.length + removeTags.length === 0 && directory === "")
      throw invalid([{ field: "addTags", description: "give tags to add or remove, or a directory" }]);
    const links = yield* findLinks(request);
    // A directory that is missing is made with the first change only.
    const directoryId = directory === "" || dryRun ? "" : yield* makeDirectory(directory);
    const summaries = yield* summariesOf(links);
    const after: MessageInitShape<typeof LinkSummarySchema>[] = [];
    let changed = 0;
    for (const [index, link] of links.entries()) {
      const wanted = wantedOf(link, summaries[index] ?? {}, request);
      const change = changeOf(link, wanted, directoryId);
      if (change !== undefined && !dryRun) yield* update(link, change);
      if (change !== undefined || (dryRun && isMoved(summaries[index] ?? {}, wanted))) changed += 1;
      after.push(wanted);
    }
    const verb = dryRun ? "would change" : "changed";
    return {
      result: { links: after, changed, dryRun },
      text: [`${changed} of ${counted(links.length, "link")} ${verb}.`, ...after.map(lineOf)],
    };
  },
);

type Summary = MessageInitShape<typeof LinkSummarySchema>;

/** The link as it is to be. */
function wantedOf(
  link: Link,
  summary: Summary,
  { addTags, removeTags, directory }: OrganizeLinksRequest,
): Summary {
  const removed = new Set(removeTags.map((tag) => tag.toLowerCase()));
  const kept = link.tags.map(({ name }) => name).filter((name) => !removed.has(name.toLowerCase()));
  const known = new Set(kept.map((name) => name.toLowerCase()));
  const tags = [...kept, ...addTags.filter((name) => !known.has(name.toLowerCase()))];
  return { ...summary, tags, directory: directory === "" ? (summary.directory ?? "") : directory };
}

/** The request that makes the link so; undefined when it is so already. */
function changeOf(link: Link, { tags = [] }: Summary, directoryId: string): Json | undefined {
  const isTagged = link.tags.map(({ name }) => name).join("\n") === tags.join("\n");
  const isThere = directoryId === "" || link.directoryId === directoryId;
  if (isTagged && isThere) return undefined;
  const tagged = tags.length === 0 ? { tagsDelete: true } : { tags };
  return { ...(isTagged ? {} : tagged), ...(isThere ? {} : { directoryId }) };
}

function isMoved({ directory = "" }: Summary, wanted: Summary): boolean {
  return directory.toLowerCase() !== (wanted.directory ?? "").toLowerCase();
}

function* update(link: Link, change: Json): Steps<void> {
  yield* write(
    `change the link "${link.name}" (${link.id})`,
    LinksService.method.update,
    { id: link.id, ...change },
    () => `${link.entrypoint} is tagged and moved`,
  );
}

function lineOf({ entrypoint, tags = [], directory }: Summary): string {
  return `- ${entrypoint}: tags ${tags.join(", ") || "none"}${directory ? `, in ${directory}` : ""}`;
}
