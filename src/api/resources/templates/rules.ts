import { type CallError, fail, invalid, type Precondition } from "../../../lib/errors.ts";
import { faqFault } from "../../../model/faq.ts";
import { noWorkspace } from "../../../model/no-workspace.ts";
import type { TemplateKind } from "./kind.ts";
import type { LockedTemplate } from "./writes.ts";

type Named = Pick<TemplateKind, "noun">;

export function checkFaq(faq: string): void {
  const description = faqFault(faq);
  if (description !== undefined) throw invalid([{ field: "faq", description }]);
}

/** Throws for a missing template, and for a built-in one, which nobody may change. */
export function checkTemplateChangeable(
  { noun }: Named,
  template: LockedTemplate | undefined,
  id: string,
): asserts template is LockedTemplate {
  if (template === undefined) throw noSuchTemplate({ noun }, id);
  if (template.workspace_id === noWorkspace)
    throw fail("PERMISSION_DENIED", "BUILT_IN_TEMPLATE", `${noun} ${id} is built in: import it to change it`);
}

/** Throws TEMPLATE_NOT_PUBLISHABLE with everything that is missing. */
export function checkPublishable({ noun }: Named, template: LockedTemplate): void {
  const missing: Precondition[] = [];
  const need = (isThere: boolean, type: string, subject: string, description: string) => {
    if (!isThere) missing.push({ type, subject, description });
  };
  need(template.is_workspace_public, "WORKSPACE_PUBLIC", "workspace", "make the workspace public first");
  need(template.slug !== null, "REQUIRED", "slug", "give the template a slug");
  need(template.description !== "", "REQUIRED", "description", "give the template a description");
  need(template.name !== "", "REQUIRED", "name", "give the template a name");
  const [first] = missing;
  if (first === undefined) return;
  throw fail(
    "FAILED_PRECONDITION",
    "TEMPLATE_NOT_PUBLISHABLE",
    `${noun} ${template.id} cannot be published: ${missing.map(({ description }) => description).join("; ")}`,
    { preconditions: missing },
  );
}

export function noSuchTemplate({ noun }: Named, id: string, field = ""): CallError {
  const place = field && `${field}: `;
  return fail("NOT_FOUND", "NOT_FOUND", `${place}there is no ${noun} ${id} that this workspace can use`);
}

export function noSuchPublicTemplate({ noun }: Named, slug: string, field = ""): CallError {
  const place = field && `${field}: `;
  return fail("NOT_FOUND", "NOT_FOUND", `${place}there is no public ${noun} ${slug}`);
}
