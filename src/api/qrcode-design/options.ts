import {
  type DescEnum,
  type DescMessage,
  type JsonObject,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import {
  BackgroundOptionsSchema,
  CornersDotOptionsSchema,
  CornersDotTypeSchema,
  CornersSquareOptionsSchema,
  CornersSquareTypeSchema,
  DotsOptionsSchema,
  DotsTypeSchema,
  OutputFileFormatSchema,
  QrcodeDesign_ShapeSchema,
} from "../../../gen/signpost/v1/qrcode_design_pb.js";
import type {
  PublicCreateQrcodeDesignRequest,
  UpdateQrcodeDesignRequest,
} from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { type DesignOptions, defaultDesignOptions } from "../../model/look/design-options.ts";
import { centralImageKeyOf } from "../../qr/designs/load-design.ts";

type DesignRequest = PublicCreateQrcodeDesignRequest | UpdateQrcodeDesignRequest;

/**
 * The stored form of each field of a request, by its name in a mask. A field that the request leaves open, or sets to
 * nothing, takes the default. The picture in the middle is stored on its own.
 */
const fields = {
  shape: ({ shape }: DesignRequest) => ({ shape: nameOf(QrcodeDesign_ShapeSchema, shape) }),
  dots_options: ({ dotsOptions }: DesignRequest) => ({
    dotsOptions: part(DotsOptionsSchema, dotsOptions, DotsTypeSchema),
  }),
  corners_square_options: ({ cornersSquareOptions }: DesignRequest) => ({
    cornersSquareOptions: part(CornersSquareOptionsSchema, cornersSquareOptions, CornersSquareTypeSchema),
  }),
  corners_dot_options: ({ cornersDotOptions }: DesignRequest) => ({
    cornersDotOptions: part(CornersDotOptionsSchema, cornersDotOptions, CornersDotTypeSchema),
  }),
  background_options: ({ backgroundOptions }: DesignRequest) => ({
    backgroundOptions: part(BackgroundOptionsSchema, backgroundOptions),
  }),
  central_image_size: ({ centralImageSize }: DesignRequest) => ({ centralImageSize }),
  central_image_margin: ({ centralImageMargin }: DesignRequest) => ({ centralImageMargin }),
  hide_background_dots: ({ hideBackgroundDots }: DesignRequest) => ({ hideBackgroundDots }),
  error_correction_level: ({ errorCorrectionLevel }: DesignRequest) => ({ errorCorrectionLevel }),
  width: ({ width }: DesignRequest) => ({ width }),
  height: ({ height }: DesignRequest) => ({ height }),
  output_file_format: ({ outputFileFormat }: DesignRequest) => ({
    outputFileFormat: nameOf(OutputFileFormatSchema, outputFileFormat),
  }),
} as const;

export type DesignField = keyof typeof fields;

export function isDesignField(name: string): name is DesignField {
  return Object.hasOwn(fields, name);
}

/** The value of each field in a request, to tell which fields it changes. */
export function fieldValues(request: DesignRequest): Readonly<Record<DesignField, unknown>> {
  return {
    shape: request.shape,
    dots_options: request.dotsOptions,
    corners_square_options: request.cornersSquareOptions,
    corners_dot_options: request.cornersDotOptions,
    background_options: request.backgroundOptions,
    central_image_size: request.centralImageSize,
    central_image_margin: request.centralImageMargin,
    hide_background_dots: request.hideBackgroundDots,
    error_correction_level: request.errorCorrectionLevel,
    width: request.width,
    height: request.height,
    output_file_format: request.outputFileFormat,
  };
}

/** A change of a stored design. */
export interface DesignChange {
  readonly request: DesignRequest;
  readonly given: ReadonlySet<DesignField>;
  /** The new storage key of the picture in the middle. Null takes the picture away, undefined leaves it. */
  readonly centralImageKey: string | null | undefined;
}

/** The stored form of a design after a change. A code with a picture has at least error correction Q. */
export function changedOptions(before: DesignOptions, change: DesignChange): DesignOptions {
  const { request, given, centralImageKey } = change;
  const after: DesignOptions = { ...before };
  for (const field of given) Object.assign(after, withDefaults(fields[field](request)));
  if (centralImageKey === null) delete after.centralImageKey;
  else if (centralImageKey !== undefined) after.centralImageKey = centralImageKey;
  if (centralImageKeyOf(after) !== undefined && after.errorCorrectionLevel !== "H")
    after.errorCorrectionLevel = "Q";
  return after;
}

/** Zero and empty values mean the default. False does not. */
function withDefaults(changed: JsonObject | Record<string, unknown>): DesignOptions {
  return Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      value === undefined || value === 0 || value === "" ? (defaultDesignOptions[name] ?? null) : value,
    ]),
  ) as DesignOptions; // made of JSON values
}

/** The name of an enum's value. Undefined for UNSPECIFIED, which leaves the default. */
function nameOf(desc: DescEnum, number: number): string | undefined {
  return number === 0 ? undefined : desc.value[number]?.name;
}

/** The stored form of a part of the design. It also names the type when that is SQUARE, the default. */
function part<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc> | undefined,
  types?: DescEnum,
): DesignOptions | undefined {
  if (message === undefined) return undefined;
  const json = toJson(desc, message) as JsonObject; // a message is an object
  const square = types?.values.find(({ localName }) => localName === "SQUARE")?.name;
  return { ...(square === undefined ? {} : { type: square }), ...json };
}
