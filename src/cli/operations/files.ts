import { isHttpBody } from "../../rest/binding.ts";
import { answerSchema, type Command } from "./groups.ts";

/** Whether an operation answers a file, such as a picture, instead of JSON. */
export function isFile({ binding, method }: Command): boolean {
  return isHttpBody(binding.responseField?.message ?? method.output);
}

/** Whether `--output` has something to write: the answer itself, or what the finished work makes. */
export function hasFile(command: Command): boolean {
  return isFile(command) || answerSchema(command).fields.some(({ name }) => name === "download_url");
}
