import type {
  AssistantUploadFileRequest,
  AssistantUploadFileResponse,
} from "../../../gen/signpost/v1/assistant_service_pb.js";
import { fail, invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { formatOf, PictureFault, type PictureRules } from "../../lib/images/reencode-image.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import { callerIdOf } from "./conversations.ts";
import type { AssistantDeps } from "./deps.ts";
import { waitingMax } from "./queries.ts";
import { storeUpload } from "./writes.ts";

/** How long a file waits for a message, in milliseconds. */
const waitingMs = 5 * 60 * 1000;

/** Models see pictures at about this size, whatever they are sent. */
const pictures: PictureRules = { formats: ["png", "jpeg", "webp", "svg"], sideMax: 8_000, pngWithin: 1_024 };

/** How much of a text a model reads, in characters. */
const textMax = 64 * 1024;

const textTypes = ["text/plain", "text/csv"];

interface Read {
  /** The type that the file has, whatever its sender says. */
  readonly mimeType: string;
  /** What of the file a model reads. */
  readonly content: Uint8Array;
}

type Answer = Pick<AssistantUploadFileResponse, "fileId" | "mimeType" | "name">;

/** Reads a file, and leaves it to be stored for the caller's next message. */
export async function prepareUpload(
  { now, pictures: reader }: Pick<AssistantDeps, "now" | "pictures">,
  request: AssistantUploadFileRequest,
  context: Context,
): Promise<Write<Answer>> {
  const caller = callerOf(context);
  const { mimeType, content } = await readFile(reader, request, context.signal);
  const at = now();
  const id = newId(at);
  const name = request.name || `file.${mimeType.split("/")[1]?.replace("plain", "txt")}`;
  const upload = {
    workspaceId: caller.workspaceId,
    callerId: callerIdOf(caller),
    id,
    name,
    mimeType,
    content,
  };
  return async (db) => {
    const isStored = await storeUpload(db, { ...upload, at, expiresAt: new Date(at.getTime() + waitingMs) });
    if (!isStored)
      throw fail(
        "FAILED_PRECONDITION",
        "LIMIT_REACHED",
        `at most ${waitingMax.files} files of together 20 MiB wait for a message; send it first`,
      );
    return { fileId: id, mimeType, name };
  };
}

async function readFile(
  reader: AssistantDeps["pictures"],
  { content, mimeType: declared }: AssistantUploadFileRequest,
  signal: AbortSignal,
): Promise<Read> {
  const format = formatOf(content);
  const said = declared.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (format !== undefined && !textTypes.includes(said)) {
    const mimeType = `image/${format === "svg" ? "svg+xml" : format}`;
    if (!said.startsWith("image/")) throw wrongType(mimeType);
    try {
      return { mimeType, content: (await reader.read(content, pictures, signal)).bytes };
    } catch (error) {
      if (error instanceof PictureFault) throw invalid([{ field: "content", description: error.message }]);
      throw error;
    }
  }
  if (Buffer.from(content.subarray(0, 5)).toString("latin1") === "%PDF-") {
    if (said !== "application/pdf") throw wrongType("application/pdf");
    return { mimeType: "application/pdf", content };
  }
  const text = textOf(content);
  if (!textTypes.includes(said) || text === undefined)
    throw wrongType(text === undefined ? undefined : "text/plain");
  return { mimeType: said, content: Buffer.from(text.slice(0, textMax)) };
}

/** The text of a file; undefined when it is none. */
function textOf(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: files of other kinds have them.
    return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function wrongType(found: string | undefined) {
  const accepted = "an image (PNG, JPEG, WebP, SVG), application/pdf, text/plain or text/csv";
  const is = found === undefined ? "the file is none of them" : `the file looks like ${found}`;
  return invalid([{ field: "mimeType", description: `must be the type of the file, ${accepted}; ${is}` }]);
}
