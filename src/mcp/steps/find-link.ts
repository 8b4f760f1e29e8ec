import type { MessageInitShape } from "@bufbuild/protobuf";
import { validate as isUuid } from "uuid";
import type { LinkSummarySchema } from "../../../gen/signpost/tasks/v1/link_tasks_pb.js";
import { DirectoriesService } from "../../../gen/signpost/v1/directories_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { type CallError, fail, invalid } from "../../lib/errors.ts";
import { read, type Steps } from "./task.ts";

/** The operations that find links; they need one scope. */
export const linkFinding = [
  LinksService.method.get,
  LinksService.method.list,
  DirectoriesService.method.list,
] as const;

/** How many links are looked through for an exact name. */
const searchedMax = 200;

/** How many links one task changes at most. */
const linksMax = 50;

/** Finds the one link that a text names: its id, its short link, its address or its exact name. */
export function* findLink(given: string): Steps<Link> {
  const text = given.trim();
  if (isUuid(text)) return yield* getLink(text);
  const shortlink = lastSegment(text);
  const { links } = yield* read("look for the link", LinksService.method.list, {
    search: shortlink.slice(0, 200),
    pageSize: searchedMax,
    include: ["tags"],
  });
  const byAddress = links.filter((link) => link.shortlink === shortlink && isAddressOf(text, link));
  const found = byAddress.length > 0 ? byAddress : links.filter(({ name }) => isSame(name, text));
  const [link, ...others] = found;
  if (link === undefined) throw unknownLink(text, links);
  if (others.length > 0) throw ambiguous(text, found);
  return link;
}

/** Gets a link by its id, with what a summary shows. */
export function* getLink(id: string): Steps<Link> {
  const { link } = yield* read("get the link", LinksService.method.get, { id, include: ["tags"] });
  if (link === undefined) throw new Error("an answer lacks its link");
  return link;
}

/** Finds the links that a task is about: those that texts name, or all with a tag. */
export function* findLinks({
  links: named,
  tag,
}: {
  readonly links: readonly string[];
  readonly tag: string;
}): Steps<readonly Link[]> {
  if ((named.length === 0) === (tag === "")) {
    const description = "give either links or tag, and not both";
    throw invalid([{ field: "links", description }], "ONE_OF_REQUIRED");
  }
  const found: Link[] = [];
  for (const each of named) found.push(yield* findLink(each));
  if (tag !== "") {
    const answer = yield* read("look for the links", LinksService.method.list, {
      tags: [tag],
      pageSize: linksMax,
      include: ["tags"],
    });
    if (answer.totalCount > linksMax) {
      const description = `has ${answer.totalCount} links, more than ${linksMax}: name them in links, in portions`;
      throw invalid([{ field: "tag", description }]);
    }
    found.push(...answer.links);
  }
  const unique = [...new Map(found.map((link) => [link.id, link])).values()];
  if (unique.length === 0) throw fail("NOT_FOUND", "NOT_FOUND", `no link has the tag "${tag}"`);
  return unique;
}

/** Directories by their ids; asked for only when a link is in one. */
export function* pathsOf(links: readonly Link[]): Steps<ReadonlyMap<string, string>> {
  if (links.every(({ directoryId }) => directoryId === "")) return new Map();
  const { directories } = yield* read("read the directories", DirectoriesService.method.list, {
    recursive: true,
    pageSize: 1_000,
  });
  return new Map(directories.map(({ id, path }) => [id, path]));
}

/** Links in short. */
export function* summariesOf(links: readonly Link[]): Steps<MessageInitShape<typeof LinkSummarySchema>[]> {
  const paths = yield* pathsOf(links);
  return links.map((link) => summaryOf(link, paths));
}

/** A link in short. */
export function summaryOf(
  { id, name, entrypoint, tags, directoryId, eventCount, createdAt, expiresAt }: Link,
  paths: ReadonlyMap<string, string> = new Map(),
): MessageInitShape<typeof LinkSummarySchema> {
  return {
    id,
    name,
    entrypoint,
    tags: tags.map((tag) => tag.name),
    directory: paths.get(directoryId) ?? "",
    visits: Number(eventCount),
    ...(createdAt && { createdAt }),
    ...(expiresAt && { expiresAt }),
  };
}

/** A link as one line for a model. */
export function lineOf({ id, name, entrypoint, eventCount }: Link): string {
  return `"${name}" ${entrypoint} (${eventCount} visits, id ${id})`;
}

/** `https://go.example/menu?qr` and `/menu` are `menu`. */
function lastSegment(text: string): string {
  const [path = ""] = text.split(/[?#]/, 1);
  return path.replace(/\/$/, "").split("/").at(-1) ?? "";
}

/** Whether a text that ends in the short link of a link names no other host than the link's. */
function isAddressOf(text: string, { entrypoint, shortlink }: Link): boolean {
  const [given = ""] = text.replace(/^https?:\/\//, "").split(/[?#]/, 1);
  return given.replace(/^\/|\/$/g, "") === shortlink || entrypoint.endsWith(given.replace(/\/$/, ""));
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function unknownLink(text: string, similar: readonly Link[]): CallError {
  const hint =
    similar.length === 0
      ? "look for it with find_links"
      : `similar: ${similar.slice(0, 5).map(lineOf).join(", ")}`;
  return fail("NOT_FOUND", "NOT_FOUND", `no link is called "${text}"; ${hint}`);
}

function ambiguous(text: string, found: readonly Link[]): CallError {
  const names = found.slice(0, 5).map(lineOf).join(", ");
  const description = `"${text}" is the name of ${found.length} links; give the id of one: ${names}`;
  return invalid([{ field: "link", description }]);
}
