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
 * The stored form of each field of a request, by its name in a mask. What a request leaves open or sets to nothing takes
 * the default; the picture in the middle has a way of its own.
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

/** What a request says of each field, to tell which ones it changes. */
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
  /** Where the picture in the middle is stored from now on; null takes it away, undefined leaves it. */
  readonly centralImageKey: string | null | undefined;
}

/** The stored form of a design after a change. A code with a picture in it has error correction Q at least. */
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

/** Zero and nothing mean the default, except for a yes or no. */
function withDefaults(changed: JsonObject | Record<string, unknown>): DesignOptions {
  return Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      value === undefined || value === 0 || value === "" ? (defaultDesignOptions[name] ?? null) : value,
    ]),
  ) as DesignOptions; // made of JSON values
}

/** The name of an enum's value; the first value that says something for UNSPECIFIED, undefined leaves the default. */
function nameOf(desc: DescEnum, number: number): string | undefined {
  return number === 0 ? undefined : desc.value[number]?.name;
}

/** A part of the design in its stored form: with the type named also where it is SQUARE by default. */
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
