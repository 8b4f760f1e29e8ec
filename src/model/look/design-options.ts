import { withoutEndSlashes } from "../../lib/end-slashes.ts";

/** A value of JSON. */
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A QR code design as it is stored: the fields of the contract by their JSON names, and fields of our own. */
export type DesignOptions = { [name: string]: Json };

/**
 * The design that is stored when nobody asks for another. It is written out, so that a new default changes no old code.
 */
export const defaultDesignOptions: DesignOptions = {
  shape: "SHAPE_SQUARE",
  dotsOptions: { type: "DOTS_TYPE_SQUARE", themeColor: solid("#000000") },
  cornersSquareOptions: { type: "CORNERS_SQUARE_TYPE_SQUARE" },
  cornersDotOptions: { type: "CORNERS_DOT_TYPE_SQUARE" },
  backgroundOptions: { themeColor: solid("#ffffff") },
  centralImageSize: 0.4,
  centralImageMargin: 0,
  hideBackgroundDots: true,
  errorCorrectionLevel: "Q",
  width: 512,
  height: 512,
  outputFileFormat: "OUTPUT_FILE_FORMAT_PNG",
};

function solid(color: string): DesignOptions {
  return { type: "THEME_COLOR_TYPE_SOLID", colors: [color] };
}

/** What the code of a link holds: its entrypoint, with the mark that tells a scan from a click. */
export function qrcodeContent(origin: string, shortlink: string): string {
  return `${withoutEndSlashes(origin)}/${shortlink}?qr`;
}

/** A short link of the usual length, for codes that belong to no link. */
export const sampleShortlink = "4BnH-R19p";
