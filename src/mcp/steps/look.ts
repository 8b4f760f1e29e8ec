import type { MessageInitShape } from "@bufbuild/protobuf";
import { validate as isUuid } from "uuid";
import type { QrLook, QrReadabilitySchema } from "../../../gen/signpost/tasks/v1/link_tasks_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { type Scannability, ScannabilityGrade } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import { QrcodeDesignService } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { QrcodeTemplatesService } from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { fail, invalid } from "../../lib/errors.ts";
import type { Image, Json } from "../tool.ts";
import { pause, read, readImage, type Steps } from "./task.ts";
import { shortName } from "./words.ts";

/** The operations that choose a look and judge it. */
export const looking = [
  QrcodeTemplatesService.method.listQrcodeTemplates,
  QrcodeDesignService.method.verify,
] as const;

/** A look as operations take it: a template of the workspace, or the fields of a design. */
export type ChosenLook =
  | { readonly kind: "template"; readonly id: string }
  | { readonly kind: "design"; readonly fields: Json }
  | { readonly kind: "none" };

const forms: Readonly<Record<string, string>> = {
  dots: "DOTS_TYPE_DOTS",
  rounded: "DOTS_TYPE_ROUNDED",
  classy: "DOTS_TYPE_CLASSY",
};

/** Finds the template that a look names, or makes the fields of a design of its colors. */
export function* chooseLook(look: QrLook | undefined): Steps<ChosenLook> {
  if (look === undefined) return { kind: "none" };
  const { template, foreground, background, dots } = look;
  const hasColors = foreground !== "" || background !== "" || dots !== "";
  if (template !== "" && hasColors) {
    const description = "give a template or colors, and not both";
    throw invalid([{ field: "look.template", description }], "MUTUALLY_EXCLUSIVE_FIELDS");
  }
  if (template !== "") return { kind: "template", id: yield* findTemplate(template) };
  if (!hasColors) return { kind: "none" };
  const fields = {
    dotsOptions: { type: forms[dots] ?? "DOTS_TYPE_SQUARE", ...colored(foreground) },
    // Unset colors are those of the dots.
    cornersSquareOptions: {},
    cornersDotOptions: {},
    backgroundOptions: colored(background),
    requireScannable: true,
  };
  return { kind: "design", fields };
}

function colored(color: string): Json {
  return color === "" ? {} : { themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: [color] } };
}

function* findTemplate(given: string): Steps<string> {
  if (isUuid(given)) return given;
  const { qrcodeTemplates } = yield* read(
    "look for the template",
    QrcodeTemplatesService.method.listQrcodeTemplates,
    { scope: "QRCODE_TEMPLATE_SCOPE_AVAILABLE", pageSize: 1_000 },
  );
  const text = given.toLowerCase();
  // The workspace's own templates come first.
  const found = qrcodeTemplates.find(({ slug, name }) => slug === text || name.toLowerCase() === text);
  if (found !== undefined) return found.id;
  const names = qrcodeTemplates.slice(0, 10).map(({ name }) => `"${name}"`);
  throw fail("NOT_FOUND", "NOT_FOUND", `no template is called "${given}"; there are: ${names.join(", ")}`);
}

/** What readers make of a design's codes. */
export function* verify(designId: string): Steps<Scannability | undefined> {
  const { scannability } = yield* read("try to read the code", QrcodeDesignService.method.verify, {
    id: designId,
  });
  return scannability;
}

/** Who reads a code, in short. */
export function readabilityOf(
  scannability: Scannability | undefined,
): MessageInitShape<typeof QrReadabilitySchema> {
  if (scannability === undefined) return {};
  const { readable, grade, score, causes, changes } = scannability;
  return {
    readable,
    grade: shortName(ScannabilityGrade, grade),
    score,
    advice: [...causes, ...changes].map(({ message }) => message),
  };
}

/** The same in words. */
export function readabilityLine(scannability: Scannability | undefined): string {
  if (scannability === undefined) return "The code was not tried.";
  const { readable, grade, score } = scannability;
  const [advice = ""] = readabilityOf(scannability).advice ?? [];
  const verdict = readable ? "Readers read the code" : "DO NOT PRINT: phones may not read the code";
  return `${verdict} (grade ${shortName(ScannabilityGrade, grade)}, score ${score}). ${advice}`.trim();
}

/** How long a code that is being drawn is waited for, in milliseconds between the reads. */
const waits = [200, 400, 800, 1_600, 3_000];

/** A link's code: its address, which is empty while it is drawn, and its image. */
export interface DrawnCode {
  readonly address: string;
  readonly image: Image | undefined;
}

/** The code of a link that was just read or made. */
export function* codeOf(link: Link | undefined): Steps<DrawnCode> {
  const address = isDrawn(link) ? (link?.qrcodeSignedUrl ?? "") : "";
  return { address, image: yield* readImage(address) };
}

/** The code of a link. It waits a little while the code is drawn. */
export function* awaitCode(linkId: string): Steps<DrawnCode> {
  let link = yield* linkWithCode(linkId);
  for (const milliseconds of waits) {
    if (isDrawn(link)) break;
    yield* pause(milliseconds);
    link = yield* linkWithCode(linkId);
  }
  return yield* codeOf(link);
}

function* linkWithCode(id: string): Steps<Link | undefined> {
  const request = { id, include: ["qrcodeSignedUrl"] };
  const { link } = yield* read("get the QR code", LinksService.method.get, request);
  return link;
}

function isDrawn(link: Link | undefined): boolean {
  return link?.qrcodeSignedUrl !== undefined && link.qrcodePendingUpdateSince === undefined;
}
