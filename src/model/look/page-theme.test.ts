import { expect, test } from "vitest";
import { black, white } from "../../lib/color.ts";
import { builtInTheme, defaultStyling, pageTheme } from "./page-theme.ts";

const solid = (...colors: string[]) => ({ type: "THEME_COLOR_TYPE_SOLID", colors });
const solidBlack = { type: "SOLID", colors: [black], stops: [], direction: "" };

test("is the built-in look without a stored styling", () => {
  for (const nothing of [undefined, null, "x", 1, []]) expect(pageTheme(nothing)).toBe(builtInTheme);
});

test("takes the values of the built-in look for what is missing, and its colors stay as they are in the dark", () => {
  expect(pageTheme({})).toEqual({ ...builtInTheme, isBuiltIn: false });
});

test("shows nothing else when the values of the built-in look are written out", () => {
  expect(pageTheme(defaultStyling)).toEqual(pageTheme({}));
});

test("gives the same theme for the same stored object, which need not be read again", () => {
  const stored = { canvasColor: solid("#000") };
  expect(pageTheme(stored)).toBe(pageTheme(stored));
});

test("reads every value of a stored styling", () => {
  expect(
    pageTheme({
      canvasColor: {
        type: "THEME_COLOR_TYPE_LINEAR",
        colors: ["#000", "#fff"],
        stops: ["0%", "75.5%"],
        direction: "to right",
      },
      canvasCoverMode: "PAGE_THEME_BACKGROUND_COVER_MODE_PROGRESSIVE_TOP",
      badgeEnabled: true,
      badgeShape: "PAGE_THEME_BADGE_SHAPE_SQUARE",
      badgeIconColor: solid("#fff"),
      titleFont: {
        family: "PAGE_THEME_FONT_FAMILY_GEORGIA",
        fontSize: 40,
        bold: true,
        italic: true,
        color: solid("#fff"),
      },
      bodyFont: { family: "PAGE_THEME_FONT_FAMILY_COURIER_NEW" },
      elementColor: solid("#000"),
      elementFont: { fontSize: 20 },
      containerEnabled: true,
      containerConfig: {
        variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE",
        backgroundColor: solid("#fff"),
        opacity: 50,
        borderStyle: "PAGE_THEME_BORDER_STYLE_GROOVE",
        borderSize: 2,
        borderColor: solid("#000"),
      },
    }),
  ).toEqual({
    isBuiltIn: false,
    canvas: { type: "LINEAR", colors: [black, white], stops: ["0%", "75.5%"], direction: "to right" },
    coverMode: "PROGRESSIVE_TOP",
    badge: { shape: "SQUARE", iconColor: white },
    title: { family: "GEORGIA", size: 40, bold: true, italic: true, color: white },
    body: { ...builtInTheme.body, family: "COURIER_NEW" },
    element: solidBlack,
    elementFont: { ...builtInTheme.elementFont, family: "UNSPECIFIED", size: 20 },
    container: {
      variant: "SQUARE",
      background: white,
      opacity: 0.5,
      border: { style: "GROOVE", size: 2, color: black },
    },
  });
});

test.each([
  ["Inter, 'Helvetica Neue',sans-serif", '"Inter","Helvetica Neue",sans-serif'],
  ["Open Sans , SERIF", '"Open Sans",serif'],
  ["inherit", '"inherit"'],
  ["-x_1", '"-x_1"'],
  ["", undefined],
  ["Inter,", undefined],
  ["'Inter", undefined],
  ["'A, B'", undefined],
  [' " " ', undefined],
  ["Inter;}*{color:red", undefined],
  ["a\\27 b", undefined],
  ["url(x)", undefined],
  ["</style><script>", undefined],
  ["a,".repeat(150), undefined],
  [["Inter"], undefined],
])("writes the font families %j anew as %j", (familyStack, stack) => {
  expect(pageTheme({ titleFont: { familyStack } }).title.stack).toBe(stack);
});

test.each([
  ["a badge that is off", { badgeEnabled: false, badgeShape: "PAGE_THEME_BADGE_SHAPE_SQUARE" }],
  ["a container that is off", { containerEnabled: false, containerConfig: { opacity: 100 } }],
  ["colors that are none", { canvasColor: solid("red;}*{"), elementColor: { colors: "#000" } }],
  [
    "sizes out of bounds",
    { titleFont: { family: "PAGE_THEME_FONT_FAMILY_DEFAULT", fontSize: 900, bold: true } },
  ],
])("takes no notice of %s", (_, stored) => {
  expect(pageTheme(stored)).toEqual({ ...builtInTheme, isBuiltIn: false });
});

test.each([
  [{ type: "THEME_COLOR_TYPE_SOLID", colors: ["#000", "#fff"] }, solidBlack],
  [{ type: "THEME_COLOR_TYPE_RADIAL", colors: ["#000"] }, solidBlack],
  [
    { type: "THEME_COLOR_TYPE_RADIAL", colors: ["#000", "#fff"], stops: ["1%", "url(x)"] },
    { type: "RADIAL", colors: [black, white], stops: [], direction: "to bottom" },
  ],
  [
    { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#000", "#fff"], direction: "45deg),url(x" },
    { type: "LINEAR", colors: [black, white], stops: [], direction: "to bottom" },
  ],
  [
    { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#000", "x", "#fff"], direction: " -0.25TURN " },
    { type: "LINEAR", colors: [black, white], stops: [], direction: "-0.25turn" },
  ],
])("reads the colors %j", (canvasColor, canvas) => {
  expect(pageTheme({ canvasColor }).canvas).toEqual(canvas);
});

test("keeps borders thin enough to leave room on a phone", () => {
  const containerConfig = { variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED", borderSize: 5_000 };
  expect(pageTheme({ containerEnabled: true, containerConfig }).container?.border.size).toBe(24);
});
