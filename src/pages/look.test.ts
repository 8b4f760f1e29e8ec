import { expect, test } from "vitest";
import { parseColor } from "../model/look/color.ts";
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
  expect(properties.get("box-line")).toBe(".125rem solid #cccccc".replace(".1", "0.1"));
  expect(properties.get("box-radius")).toBe("0");
});
