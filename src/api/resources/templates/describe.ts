import { isDeepStrictEqual } from "node:util";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { inTransaction } from "../../../db/open.ts";
import { fail, invalid } from "../../../lib/errors.ts";
import { fieldsToChange } from "../../../lib/field-mask.ts";
import { type Context, callerOf } from "../../../rpc/handlers.ts";
import type { Deps } from "../../deps.ts";
import type { TemplateKind } from "./kind.ts";
import { changedTemplate } from "./operations.ts";
import { checkFaq, checkTemplateChangeable } from "./rules.ts";
import { type Described, describeTemplate, lockTemplate } from "./writes.ts";

/** The texts of a template as requests have them. */
export interface Texts {
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  readonly learnMore: string;
  readonly faq: string;
}

/** The texts of a new template. Throws INVALID_ARGUMENT for malformed questions and answers. */
export function textsOfNew({ name, description, tags, learnMore, faq }: Texts) {
  checkFaq(faq);
  return { name: name || "Untitled template", description, tags, learn_more: learnMore, faq };
}

interface Wanted extends Texts {
  readonly id: string;
  readonly slug: string;
  readonly updateMask?: { readonly paths: readonly string[] } | undefined;
}

/** Changes the description of a template: its name, slug, texts and tags. */
export async function updateTemplate<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  request: Wanted,
  context: Context,
): Promise<MessageInitShape<Own>> {
  const { workspaceId } = callerOf(context);
  const wanted = readWanted(request);
  return inTransaction(context.db, async (tx) => {
    const before = await lockTemplate(tx, kind.tables, workspaceId, request.id);
    checkTemplateChangeable(kind, before, request.id);
    const { name, slug, description, tags, learn_more, faq, published_at } = before;
    const said: Described = { name, slug, description, tags, learn_more, faq };
    const after: Described = { ...said, ...wanted };
    if (published_at !== null && after.slug !== slug)
      throw fail(
        "FAILED_PRECONDITION",
        "SLUG_IMMUTABLE",
        `slug ${slug} is published and cannot change any more`,
      );
    if (!isDeepStrictEqual(after, said))
      await describeTemplate(tx, kind.tables, before, { ...after, at: deps.now() });
    return changedTemplate(kind, deps, tx, before);
  });
}

function readWanted(request: Wanted): Partial<Described> {
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
