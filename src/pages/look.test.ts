import { expect, test } from "vitest";
import { contrast, parseColor } from "../model/look/color.ts";
import { builtInTheme, pageTheme } from "../model/look/page-theme.ts";
import { lookOf } from "./look.ts";

/** The custom properties of a look. */
function propertiesOf(look: string): ReadonlyMap<string, string> {
  return new Map(
    [...look.matchAll(/--([a-z-]+):([^;{}]+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

test("writes every color of the palette, by day and by night in the built-in look", () => {
  const [day = "", night = ""] = lookOf(builtInTheme, false).split("@media(prefers-color-scheme:dark)");
  for (const look of [day, night]) {
    const properties = propertiesOf(look);
    for (const name of ["ink", "field-ink", "on-element", "badge-ink", "element-line"])
      expect(parseColor(properties.get(name) ?? "")).toBeDefined();
  }
  expect(propertiesOf(day).get("ink")).not.toBe(propertiesOf(night).get("ink"));
});

test("a theme that leaves the canvas open keeps its elements in the dark, where everything can be read", () => {
  const stored = {
    elementColor: { colors: ["#7c2d12"] },
    badgeEnabled: true,
    badgeIconColor: { colors: ["#7c2d12"] },
    titleFont: { fontSize: 44 },
  };
  const [day = "", night = ""] = lookOf(pageTheme(stored), false).split("@media(prefers-color-scheme:dark)");
  const [light, dark] = [propertiesOf(day), propertiesOf(night)];
  expect([light.get("element"), dark.get("element")]).toEqual(["#7c2d12", "#7c2d12"]);
  expect([light.get("canvas"), dark.get("canvas")]).toEqual(["#ffffff", "#0d111a"]);
  const canvas = parseColor("#0d111a");
  for (const [role, ratio] of [
    ["ink", 4.5],
    ["title", 3],
    ["quiet", 4.5],
    ["accent", 3],
  ] as const) {
    const color = parseColor(dark.get(role) ?? "");
    expect(color && canvas && contrast(color, canvas), role).toBeGreaterThanOrEqual(ratio);
  }
});

test("a list of font families stands in place of the family, where it can be read", () => {
  const family = "PAGE_THEME_FONT_FAMILY_GEORGIA";
  const stored = {
    titleFont: { family, familyStack: "Inter, serif" },
    bodyFont: { family, familyStack: "Inter;}" },
  };
  const properties = propertiesOf(lookOf(pageTheme(stored), false));
  expect(properties.get("title-font")).toMatch(/ "Inter",serif$/);
  expect(properties.get("body-font")).toMatch(/ s-georgia,.*,Georgia,serif$/);
});

test("writes gradients and boxes with nothing that shows through but an image", () => {
  const stored = {
    canvasColor: {
      type: "THEME_COLOR_TYPE_LINEAR",
      colors: ["#fff", "#0000"],
      stops: ["10%", "90%"],
      direction: "45deg",
    },
    containerEnabled: true,
    containerConfig: {
      variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE",
      backgroundColor: { colors: ["#ffffff"] },
      opacity: 80,
      borderSize: 2,
    },
  };
  const properties = propertiesOf(lookOf(pageTheme(stored), true));
  expect(properties.get("canvas")).toBe("linear-gradient(45deg,#ffffff 10%,#ffffff 90%)");
  expect(properties.get("box")).toBe("#ffffffcc");
  expect(properties.get("box-line")).toBe("0.125rem solid #717171");
  expect(properties.get("box-radius")).toBe("0");
});
