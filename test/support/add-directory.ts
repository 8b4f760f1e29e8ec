import { randomUUID } from "node:crypto";
import type { TestWorkspace } from "./start-api.ts";

/** Makes a directory with a name of its own, at the root level unless a parent is given, and returns its id. */
export async function addDirectory(
  { rest }: Pick<TestWorkspace, "rest">,
  { name = `Menus ${randomUUID()}`, parent = "" }: { readonly name?: string; readonly parent?: string } = {},
): Promise<string> {
  const { json } = await rest("POST", "/v1/directories", { name, parentDirectoryId: parent });
  return json.directory.id;
}
