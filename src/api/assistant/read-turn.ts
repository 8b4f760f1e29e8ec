import type { AssistantSendMessageRequest } from "../../../gen/signpost/v1/assistant_service_pb.js";
import type { Turn } from "../../assistant/converse.ts";
import { historyLimits, instructionsOf, viewText } from "../../assistant/instructions.ts";
import type { ModelFile, Said } from "../../assistant/model.ts";
import type { Db } from "../../db/open.ts";
import {
  findSurroundings,
  listMessages,
  listUploads,
  type MessageRow,
  type Place,
  type Sender,
  type UploadRow,
} from "./queries.ts";

interface Asked {
  readonly request: AssistantSendMessageRequest;
  readonly place: Place;
  readonly sender: Sender;
  readonly tools: Turn["tools"];
  readonly at: Date;
}

/**
 * Reads what a model needs to answer a message. Files and the client's view are taken for texts of strangers. So is a message
 * that a tainted model wrote before, and whatever other callers said: their order must not run with this caller's scopes.
 */
export async function readTurn(
  db: Db,
  { request, place, sender, tools, at }: Asked,
): Promise<Turn & { readonly files: readonly UploadRow[] }> {
  const { message, contextMetadata } = request;
  const [rows, files, surroundings] = await Promise.all([
    listMessages(db, place, historyLimits.messages),
    listUploads(db, sender, at),
    findSurroundings(db, place.workspaceId),
  ]);
  const before = recent(rows);
  const isStrange = (row: MessageRow) => row.is_tainted || row.caller_id !== sender.callerId;
  const said: Said[] = before.map((row) =>
    row.is_from_user
      ? { by: "user", text: row.text, files: [] }
      : { by: "assistant", text: row.text, calls: [] },
  );
  const text = contextMetadata === "" ? message : `${message}\n\n${viewText(contextMetadata)}`;
  said.push({ by: "user", text, files: files.map(toModelFile) });
  const { subject, recordId } = place;
  return {
    instructions: instructionsOf({ subject, recordId, at, ...surroundings }),
    said,
    tools,
    isTainted: files.length > 0 || contextMetadata !== "" || before.some(isStrange),
    files,
  };
}

/** The newest messages that a model reads again. */
function recent(rows: readonly MessageRow[]): readonly MessageRow[] {
  let left: number = historyLimits.characters;
  const first = rows.findLastIndex(({ text }) => {
    left -= text.length;
    return left < 0;
  });
  return rows.slice(first + 1);
}

function toModelFile({ name, mime_type, content }: UploadRow): ModelFile {
  // Pictures were drawn anew as PNG when they came.
  const mimeType = mime_type.startsWith("image/") ? "image/png" : mime_type;
  return { name, mimeType, bytes: content };
}
