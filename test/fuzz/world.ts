import { onePixel } from "../support/one-pixel.ts";
import type { RecordKind } from "../support/tenant-records.ts";
import { formAction, newVisitor } from "../support/visitor.ts";

/** The service under test. */
export interface Target {
  readonly port: number;
  readonly metricsUrl: string;
  readonly token: string;
}

/** The records in the service that requests can refer to. */
export interface World {
  readonly ids: Partial<Record<RecordKind, string>>;
  /** Paths that visitors open. */
  readonly paths: readonly string[];
  /** The address of a running visit's form, with its cookies. */
  readonly step: { readonly path: string; readonly cookie: string };
}

/** Makes a link with a form, and one record of each other kind. */
export async function makeWorld({ port, token }: Target): Promise<World> {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  const post = async (path: string, body: object): Promise<any> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const plain = await post("/v1/links", { destination: "https://example.com/menu" });
  const { link, workflowSteps } = await post("/v1/links", { destination: "https://example.com/form" });
  const { workflowStep } = await post(`/v1/links/${link.id}/workflow-steps`, {
    eventAction: "EVENT_ACTION_FORM_SUBMIT",
    insertBefore: workflowSteps[1].id,
    payload: { form: { formTitle: "Hello", formFields: formFields } },
  });
  const [token2, template, media, visitor] = await Promise.all([
    post("/v1/workspace-tokens", { keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET" }),
    post("/v1/qrcode-templates", { name: "Ours", description: "For menus" }),
    post("/v1/media", { fileData: onePixel, mediaType: "TYPE_BADGE" }),
    post("/v1/visitor/identify", {
      visitor: { $email: `${link.shortlink.toLowerCase()}@example.com`, plan: "free" },
    }),
  ]);
  const browser = newVisitor(port);
  const page = await browser.open(`/${link.shortlink}?qr`);
  return {
    ids: {
      link: link.id,
      workflowStep: workflowStep.id,
      token: token2.token.id,
      qrcodeTemplate: template.qrcodeTemplate.id,
      qrcodeDesign: template.qrcodeTemplate.qrcodeDesignId,
      media: media.media.id,
      visitor: visitor.visitor.id,
    },
    paths: [`/${plain.link.shortlink}`, `/${link.shortlink}`, page.path, "/no-such-link"],
    step: {
      path: formAction(page),
      cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    },
  };
}

const formFields = [
  { key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL" },
  { key: "$phone", label: "Phone", type: "FORM_FIELD_TYPE_PHONE" },
  { key: "age", label: "Age", type: "FORM_FIELD_TYPE_NUMBER" },
  { key: "day", label: "Day", type: "FORM_FIELD_TYPE_DATE" },
];
