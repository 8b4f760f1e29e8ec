import { isUuid } from "../../lib/ids.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import type { Ask } from "../operations/ask.ts";
import { isJsonObject } from "../operations/flag-values.ts";
import { findCommand, loadGroup } from "../operations/groups.ts";
import { nextTokenOf, pageSizeMax } from "../operations/paging.ts";
import { restCall } from "../operations/request.ts";

/** The id of the directory with a path such as `Campaigns/Print`; undefined when there is none. An id stays as it is. */
export type FindDirectory = (pathOrId: string) => Promise<string | undefined>;

/** No directory has a longer path. */
const pathLengthMax = 10_000;

/** How many paths are remembered, with their ids or with the fact that there is none. */
const pathsMax = 10_000;

/** The service finds names by a text of this length at most. */
const searchLengthMax = 200;

/** Looks directories up with the service, each once. */
export async function createDirectoryFinder(ask: Ask): Promise<FindDirectory> {
  const list = findCommand(await loadGroup("directories"), "list");
  if (list === undefined) throw new Error("the interface lists directories");
  const known = lruCache<{ readonly id: string | undefined }>(pathsMax);
  const findId = async (path: string): Promise<string | undefined> => {
    if (path.length > pathLengthMax) return undefined;
    const search = path.slice(path.lastIndexOf("/") + 1).slice(0, searchLengthMax);
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const page = { search, pageSize: pageSizeMax, ...(pageToken === "" ? {} : { pageToken }) };
      const { json } = await ask(restCall(list.binding, page));
      const directories = Array.isArray(json.directories) ? json.directories.filter(isJsonObject) : [];
      const found = directories.find((each) => each.path === path);
      if (found !== undefined) return String(found.id);
      pageToken = nextTokenOf(json);
    }
    return undefined;
  };
  return async (pathOrId) => {
    if (isUuid(pathOrId)) return pathOrId;
    const path = pathOrId.replace(/^\/|\/$/g, "").normalize("NFC");
    const remembered = known.get(path) ?? { id: await findId(path) };
    known.set(path, remembered);
    return remembered.id;
  };
}
