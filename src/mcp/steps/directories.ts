import { DirectoriesService } from "../../../gen/signpost/v1/directories_service_pb.js";
import { fail } from "../../lib/errors.ts";
import { read, type Steps, write } from "./task.ts";

/** The id of the directory at a path; throws NOT_FOUND when there is none. */
export function* findDirectory(path: string): Steps<string> {
  const directories = yield* allDirectories();
  const found = directories.get(keyOf(path));
  if (found !== undefined) return found;
  const known = [...directories.keys()].slice(0, 10).join(", ") || "none yet";
  throw fail("NOT_FOUND", "NOT_FOUND", `there is no directory "${path}"; there are: ${known}`);
}

/** The id of the directory at a path; what is missing of the path is made. */
export function* makeDirectory(path: string): Steps<string> {
  const directories = yield* allDirectories();
  const names = path.split("/").filter((name) => name.trim() !== "");
  let parent = "";
  for (const [depth, name] of names.entries()) {
    const here = names.slice(0, depth + 1).join("/");
    parent = directories.get(keyOf(here)) ?? (yield* createDirectory(here, name.trim(), parent));
  }
  return parent;
}

function* createDirectory(path: string, name: string, parent: string): Steps<string> {
  const { directory } = yield* write(
    `make the directory "${path}"`,
    DirectoriesService.method.create,
    { name, ...(parent === "" ? {} : { parentDirectoryId: parent }) },
    () => `the directory "${path}" was made`,
  );
  return directory?.id ?? "";
}

/** Ids by path. A workspace with more than a thousand directories names them by longer paths elsewhere. */
function* allDirectories(): Steps<ReadonlyMap<string, string>> {
  const { directories } = yield* read("read the directories", DirectoriesService.method.list, {
    recursive: true,
    pageSize: 1_000,
  });
  return new Map(directories.map(({ id, path }) => [keyOf(path), id]));
}

function keyOf(path: string): string {
  return path
    .split("/")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .join("/")
    .toLowerCase();
}
