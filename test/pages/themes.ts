import { type PageMedia, pageImage } from "../../src/model/look/page-image.ts";
import { type PageTheme, pageTheme } from "../../src/model/look/page-theme.ts";

/** Images as the job stores them: a photo in landscape, and a badge. */
export const images = {
  cover: pageImage(
    [
      "tall-780x1688.webp",
      "tall-1170x2532.webp",
      "wide-1170x878.webp",
      "wide-1920x1440.webp",
      "tall.jpg",
      "wide.jpg",
    ].map((name) => `public/pages/${"c0".repeat(16)}/${name}`),
  ),
  badge: pageImage(
    ["square-176x176.webp", "square-264x264.webp", "square.jpg"].map(
      (name) => `public/pages/${"ba".repeat(16)}/${name}`,
    ),
  ),
} as const satisfies PageMedia;

/** Stored stylings as owners make them, including typical mistakes: light on light, and faint boxes. */
export const themes = {
  sunset: pageTheme({
    canvasColor: {
      type: "THEME_COLOR_TYPE_LINEAR",
      colors: ["#ff7e5f", "#feb47b"],
      direction: "160deg",
    },
    titleFont: font("GEORGIA", 34, "#ffffff", { bold: true }),
    bodyFont: font("GEORGIA", 17, "#ffffff"),
    elementColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#4a154b"] },
    badgeEnabled: true,
    badgeShape: "PAGE_THEME_BADGE_SHAPE_ROUNDED",
  }),
  night: pageTheme({
    canvasColor: { type: "THEME_COLOR_TYPE_RADIAL", colors: ["#1f2a44", "#05070d"] },
    titleFont: font("DEFAULT", 30, "#ffd166", { bold: true }),
    bodyFont: font("DEFAULT", 16, "#dddddd"),
    elementColor: {
      type: "THEME_COLOR_TYPE_LINEAR",
      colors: ["#ffd166", "#ef476f"],
      direction: "to right",
    },
    containerEnabled: true,
    containerConfig: {
      variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED",
      backgroundColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffffff"] },
      opacity: 8,
      borderSize: 1,
      borderColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffffff33"] },
    },
  }),
  pale: pageTheme({
    canvasColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#f6f1e7"] },
    titleFont: font("TIMES_NEW_ROMAN", 40, "#e8dcc5", { italic: true }),
    elementColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffe9a8"] },
    elementFont: font("COURIER_NEW", 16, "#ffffff"),
    containerEnabled: true,
    containerConfig: {
      variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE",
      backgroundColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffffff"] },
      opacity: 100,
      borderSize: 2,
      borderStyle: "PAGE_THEME_BORDER_STYLE_DASHED",
    },
  }),
} as const satisfies Record<string, PageTheme>;

function font(family: string, fontSize: number, color: string, face: object = {}) {
  return {
    family: `PAGE_THEME_FONT_FAMILY_${family}`,
    fontSize,
    color: { type: "THEME_COLOR_TYPE_SOLID", colors: [color] },
    ...face,
  };
}
