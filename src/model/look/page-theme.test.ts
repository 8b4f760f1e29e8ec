import { expect, test } from "vitest";
import { black, white } from "../../lib/color.ts";
import { builtInTheme, defaultStyling, pageTheme } from "./page-theme.ts";

const solid = (...colors: string[]) => ({ type: "THEME_COLOR_TYPE_SOLID", colors });
const solidBlack = { type: "SOLID", colors: [black], stops: [], direction: "" };

test("is the built-in look without a stored styling", () => {
  for (const nothing of [undefined, null, "x", 1, []]) expect(pageTheme(nothing)).toBe(builtInTheme);
});

test("takes the values of the built-in look for what is missing", () => {
  expect(pageTheme({})).toEqual(builtInTheme);
});

test("is one theme for all links of one look, and another for another look", () => {
  const look = { elementColor: solid("#0a7c66"), titleFont: { fontSize: 33 } };
  expect(pageTheme(structuredClone(look))).toBe(pageTheme(structuredClone(look)));
  expect(pageTheme({ ...look, badgeEnabled: true })).not.toBe(pageTheme(look));
});

test("shows nothing else by day when the values of the built-in look are written out", () => {
  expect(pageTheme(defaultStyling)).toEqual({ ...builtInTheme, followsDevice: false });
});

test.each([
  ["names no color", true, {}],
  [
    "names its elements, its badge and its fonts",
    true,
    {
      elementColor: solid("#c00"),
      badgeEnabled: true,
      badgeIconColor: solid("#fff"),
      titleFont: { fontSize: 40, bold: true },
      containerConfig: { backgroundColor: solid("#fff") },
    },
  ],
  ["names colors that are none", true, { canvasColor: solid("red;") }],
  ["names its canvas", false, { canvasColor: solid("#fff") }],
  ["names the color of its title", false, { titleFont: { color: solid("#111827") } }],
  ["names the color of its texts", false, { bodyFont: { color: solid("#111827") } }],
  [
    "names the ground of its box",
    false,
    {
      containerEnabled: true,
      containerConfig: { backgroundColor: solid("#fff") },
    },
  ],
])("a theme that %s follows the light or dark setting of the device: %s", (_, follows, stored) => {
  expect(pageTheme(stored).followsDevice).toBe(follows);
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
    followsDevice: false,
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
  expect(pageTheme(stored)).toEqual(builtInTheme);
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
