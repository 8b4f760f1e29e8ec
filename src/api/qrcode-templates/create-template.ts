import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateQrcodeTemplateRequest,
  CreateQrcodeTemplateResponseSchema,
  ImportQrcodeTemplateRequest,
  ImportQrcodeTemplateResponseSchema,
} from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { fail } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type DesignOptions, defaultDesignOptions } from "../../model/look/design-options.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import type { QrcodeDesignRow } from "../resources/qrcode-design.ts";
import { textsOfNew } from "../resources/templates/describe.ts";
import { findInGallery } from "../resources/templates/queries.ts";
import { noSuchPublicTemplate } from "../resources/templates/rules.ts";
import { qrcodeTemplates as kind } from "./kind.ts";
import { insertTemplate, isDesignThere, type NewTemplate } from "./writes.ts";

/** Makes a private template from a design that no link or template uses, or from the default design. */
export async function createTemplate(
  deps: Deps,
  request: CreateQrcodeTemplateRequest,
  context: Context,
): Promise<MessageInitShape<typeof CreateQrcodeTemplateResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const { qrcodeDesignId } = request;
  const template = newTemplate(deps, workspaceId, qrcodeDesignId, {
    ...textsOfNew(request),
    duplicated_from: null,
    options: qrcodeDesignId === "" ? defaultDesignOptions : undefined,
  });
  const row = await insertTemplate(context.db, template);
  if (row !== undefined)
    return { qrcodeTemplate: kind.toOwn(fileSigner(deps), { ...row, usage_count: 0n }, workspaceId) };
  if (await isDesignThere(context.db, workspaceId, qrcodeDesignId))
    throw fail(
      "FAILED_PRECONDITION",
      "DESIGN_IN_USE",
      `QR code design ${qrcodeDesignId} is already used by a link or template: make a new one`,
    );
  throw fail("NOT_FOUND", "NOT_FOUND", `qrcodeDesignId: there is no QR code design ${qrcodeDesignId}`);
}

/** Makes a private copy of a template of the gallery. */
export async function importTemplate(
  deps: Deps,
  { slug }: ImportQrcodeTemplateRequest,
  context: Context,
): Promise<MessageInitShape<typeof ImportQrcodeTemplateResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const reading = { ...kind, withLook: true };
  const original = await findInGallery(context.db, reading, slug, { withWorkspace: false });
  if (original === undefined) throw noSuchPublicTemplate(kind, slug, "slug");
  const { name, description, tags, learn_more, faq, id, look } = original;
  // The look is a row of the designs.
  const { options } = look as unknown as QrcodeDesignRow;
  const copy = newTemplate(deps, workspaceId, "", {
    ...{ name, description, tags, learn_more, faq, duplicated_from: id },
    // The column is only ever written with objects.
    options: options as DesignOptions,
  });
  const row = await insertTemplate(context.db, copy);
  if (row === undefined) throw new Error("a template with a design of its own was not made");
  return { qrcodeTemplate: kind.toOwn(fileSigner(deps), { ...row, usage_count: 0n }, workspaceId) };
}

type TemplateContent = Pick<
  NewTemplate,
  "name" | "description" | "tags" | "learn_more" | "faq" | "duplicated_from"
> & { readonly options: DesignOptions | undefined };

function newTemplate(
  { now, jobCall }: Deps,
  workspaceId: string,
  designId: string,
  { options, ...content }: TemplateContent,
): NewTemplate {
  const at = now();
  const id = newId(at);
  return {
    workspace_id: workspaceId,
    id,
    at,
    ...content,
    design: { id: designId || newId(at), options },
    drawing: jobCall("render-thumbnail", { workspaceId, templateId: id }),
  };
}
