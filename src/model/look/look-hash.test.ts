import { expect, test } from "vitest";
import { lookHash } from "./look-hash.ts";
import { defaultStyling } from "./page-theme.ts";

const none = { cover: null, badge: null };

test("looks that say the same in other words have one hash", () => {
  const hash = lookHash({}, none);
  for (const same of [
    defaultStyling,
    { badgeEnabled: false, badgeShape: "PAGE_THEME_BADGE_SHAPE_UNSPECIFIED", canvasCoverId: "" },
    { canvasColor: { colors: ["#ffffff"], stops: [], type: "THEME_COLOR_TYPE_SOLID" } },
  ])
    expect(lookHash(same, none)).toBe(hash);
});

test("every value tells looks apart, and so does the content of a media file, but not its id", () => {
  const looks = [
    lookHash({}, none),
    lookHash({ badgeEnabled: true }, none),
    lookHash({ canvasColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#000000"] } }, none),
    lookHash({ titleFont: { bold: true } }, none),
    lookHash({}, { cover: "aa", badge: null }),
    lookHash({}, { cover: null, badge: "aa" }),
  ];
  expect(new Set(looks).size).toBe(looks.length);
  const one = lookHash({ canvasCoverId: "1" }, { cover: "aa", badge: null });
  expect(lookHash({ canvasCoverId: "2" }, { cover: "aa", badge: null })).toBe(one);
});
