import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateQrcodeTemplateRequest,
  UpdateQrcodeTemplateResponseSchema,
} from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail, invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { toQrcodeTemplate } from "./message.ts";
import { countUsage } from "./queries.ts";
import { checkFaq, checkTemplateChangeable } from "./rules.ts";
import { type Described, describeTemplate, lockTemplate } from "./writes.ts";

/** Changes the description of a template: its name, slug, texts and tags. */
export async function updateTemplate(
  deps: Deps,
  request: UpdateQrcodeTemplateRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdateQrcodeTemplateResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const wanted = readWanted(request);
  return inTransaction(context.db, async (tx) => {
    const before = await lockTemplate(tx, workspaceId, request.id);
    checkTemplateChangeable(before, request.id);
    const { name, slug, description, tags, learn_more, faq, published_at } = before;
    const said: Described = { name, slug, description, tags, learn_more, faq };
    const after: Described = { ...said, ...wanted };
    if (published_at !== null && after.slug !== slug)
      throw fail(
        "FAILED_PRECONDITION",
        "SLUG_IMMUTABLE",
        `slug ${slug} is published and cannot change any more`,
      );
    const row = isDeepStrictEqual(after, said)
      ? before
      : await describeTemplate(tx, before, after, deps.now());
    const usage_count = await countUsage(tx, row);
    return { qrcodeTemplate: toQrcodeTemplate(fileSigner(deps), { ...row, usage_count }, workspaceId) };
  });
}

function readWanted(request: UpdateQrcodeTemplateRequest): Partial<Described> {
  const values: Described = {
    name: request.name,
    slug: request.slug,
    description: request.description,
    tags: request.tags,
    learn_more: request.learnMore,
    faq: request.faq,
  };
  const given = fieldsToChange(values, request.updateMask?.paths);
  if (given.has("name") && request.name === "")
    throw invalid([{ field: "name", description: "must not be empty" }]);
  checkFaq(request.faq);
  const wanted = Object.fromEntries(
    Object.entries(values).filter(([name]) => given.has(name as keyof Described)),
  );
  return wanted.slug === "" ? { ...wanted, slug: null } : wanted;
}
