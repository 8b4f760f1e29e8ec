import { expect, test } from "vitest";
import { cardPlatforms, guessPlatform, platformFaults, socialPlatforms, withPlatforms } from "./platform.ts";

test.each([
  ["https://www.instagram.com/ada", "instagram"],
  ["https://vm.tiktok.com/x", "tiktok"],
  ["https://twitter.com/ada", "twitter"],
  ["https://x.com/ada", "twitter"],
  ["https://m.facebook.com/ada", "facebook"],
  ["https://youtu.be/x", "youtube"],
  ["https://music.youtube.com/x", "youtube"],
  ["https://de.linkedin.com/in/ada", "linkedin"],
  ["https://GitHub.com/ada", "github"],
  ["https://wa.me/4930123456", "whatsapp"],
  ["whatsapp://send?text=hi", "whatsapp"],
  ["https://apps.apple.com/app/id1", "appstore"],
  ["https://play.google.com/store/apps/details?id=x", "playstore"],
  ["https://ada.medium.com", "medium"],
  ["https://t.me/ada", "telegram"],
  ["https://discord.gg/x", "discord"],
  ["https://example.slack.com", "slack"],
  ["https://open.spotify.com/track/x", "spotify"],
  ["https://music.apple.com/album/x", "applemusic"],
  ["https://www.twitch.tv/ada", "twitch"],
  ["https://www.snapchat.com/add/ada", "snapchat"],
  ["https://pin.it/x", "pinterest"],
  ["https://www.reddit.com/r/x", "reddit"],
  ["https://calendly.com/ada", "calendly"],
  ["https://notx.com/ada", "website"],
  ["https://x.com.example/ada", "website"],
  ["https://apple.com", "website"],
  ["https://example.com/instagram.com", "website"],
  ["https://192.0.2.1/", "website"],
  ["mailto:ada@instagram.com", "website"],
  ["constructor:x", "website"],
  ["", "website"],
])("%s leads to %s", (url, platform) => {
  expect(guessPlatform(url, cardPlatforms)).toBe(platform);
});

test("a social links page has fewer platforms than a contact card", () => {
  expect(guessPlatform("https://t.me/ada", socialPlatforms)).toBe("website");
  expect(guessPlatform("https://tiktok.com/@ada", socialPlatforms)).toBe("tiktok");
});

test("a platform that is given is kept in small letters, and one that there is not is named by its field", () => {
  const links = [
    { url: "https://t.me/ada", platform: "GitHub" },
    { url: "https://t.me/ada", platform: "" },
    { url: "", platform: "constructor" },
  ];
  expect(withPlatforms(links, cardPlatforms).map(({ platform }) => platform)).toEqual([
    "github",
    "telegram",
    "constructor",
  ]);
  expect(platformFaults(links, cardPlatforms, "links").map(({ field }) => field)).toEqual([
    "links[2].platform",
  ]);
});
