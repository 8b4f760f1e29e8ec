import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import type { WorkflowStepSchema } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { type Context, callerOf, type Finish } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { createLinks, createOneLink, type MadeLink } from "./create-links.ts";
import type { NewLink } from "./create-writes.ts";
import { toFirstSteps, toLink } from "./message.ts";
import { awaitImages, messageOptions } from "./qrcode-image.ts";
import type { ImageState } from "./queries.ts";
import type { WantedLink } from "./wanted-link.ts";

/** What every way to create one link answers. */
export interface CreatedLink {
  readonly link: MessageInitShape<typeof LinkSchema>;
  readonly workflowSteps: MessageInitShape<typeof WorkflowStepSchema>[];
}

/** Makes a link that `rules.ts` has accepted. */
export async function createLink(deps: Deps, wanted: WantedLink, context: Context): Promise<CreatedLink> {
  const { workspaceId } = callerOf(context);
  const made = await createOneLink(deps, context.db, workspaceId, wanted);
  const answer = (images = noImages) => ({
    link: messageOf(deps, made, images),
    workflowSteps: toFirstSteps(made.link),
  });
  waitForImages(deps, context, wanted.waitForQrcode ? [made.link] : [], answer);
  return answer();
}

/** Makes links that `rules.ts` has accepted, all or none. Answers them in the order given. */
export async function createManyLinks(
  deps: Deps,
  wanted: readonly WantedLink[],
  context: Context,
): Promise<{ readonly links: CreatedLink["link"][] }> {
  const { workspaceId } = callerOf(context);
  const placeOf = (index: number) => `links[${index}].`;
  const made = await createLinks(deps, context.db, { workspaceId, links: wanted, placeOf });
  const answer = (images = noImages) => ({ links: made.map((one) => messageOf(deps, one, images)) });
  const awaited = made.filter((_, index) => wanted[index]?.waitForQrcode);
  waitForImages(
    deps,
    context,
    awaited.map(({ link }) => link),
    answer,
  );
  return answer();
}

type Images = ReadonlyMap<string, ImageState>;
const noImages: Images = new Map();

/** Answers only when the images of these links exist, with their addresses. */
function waitForImages(
  deps: Deps,
  { signal, afterCommit }: Context,
  links: readonly NewLink[],
  answer: (images: Images) => Awaited<ReturnType<Finish>>,
): void {
  const [first] = links;
  if (first === undefined) return;
  const awaited = { workspaceId: first.workspaceId, linkIds: links.map(({ id }) => id) };
  afterCommit(async (db) => answer(await awaitImages(deps, { db, signal }, awaited)));
}

function messageOf(deps: Deps, { row }: MadeLink, images: Images): CreatedLink["link"] {
  const image = images.get(row.id);
  return toLink({ ...row, ...image }, { ...messageOptions(deps), showsImage: image !== undefined });
}
