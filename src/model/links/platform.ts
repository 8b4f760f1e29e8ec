import type { Fault } from "../../lib/errors.ts";
import { hostAndParents, hostOf } from "./destination.ts";

/** The platforms that the buttons of a social links page can stand for. */
export const socialPlatforms = [
  "instagram",
  "tiktok",
  "twitter",
  "facebook",
  "website",
  "youtube",
  "linkedin",
  "github",
  "whatsapp",
] as const;

/** The platforms that the links of a contact card can stand for. */
export const cardPlatforms = [
  ...socialPlatforms,
  "appstore",
  "playstore",
  "medium",
  "telegram",
  "discord",
  "slack",
  "spotify",
  "applemusic",
  "twitch",
  "snapchat",
  "pinterest",
  "reddit",
  "calendly",
] as const;

export type Platform = (typeof cardPlatforms)[number];

/** Platforms by their domains; hosts below a domain belong to it. */
const platformsByDomain: ReadonlyMap<string, Platform> = new Map([
  ["instagram.com", "instagram"],
  ["instagr.am", "instagram"],
  ["tiktok.com", "tiktok"],
  ["twitter.com", "twitter"],
  ["x.com", "twitter"],
  ["facebook.com", "facebook"],
  ["fb.com", "facebook"],
  ["fb.me", "facebook"],
  ["m.me", "facebook"],
  ["youtube.com", "youtube"],
  ["youtu.be", "youtube"],
  ["linkedin.com", "linkedin"],
  ["lnkd.in", "linkedin"],
  ["github.com", "github"],
  ["whatsapp.com", "whatsapp"],
  ["wa.me", "whatsapp"],
  ["apps.apple.com", "appstore"],
  ["itunes.apple.com", "appstore"],
  ["play.google.com", "playstore"],
  ["medium.com", "medium"],
  ["t.me", "telegram"],
  ["telegram.me", "telegram"],
  ["telegram.org", "telegram"],
  ["discord.gg", "discord"],
  ["discord.com", "discord"],
  ["slack.com", "slack"],
  ["spotify.com", "spotify"],
  ["music.apple.com", "applemusic"],
  ["twitch.tv", "twitch"],
  ["snapchat.com", "snapchat"],
  ["pinterest.com", "pinterest"],
  ["pin.it", "pinterest"],
  ["reddit.com", "reddit"],
  ["redd.it", "reddit"],
  ["calendly.com", "calendly"],
]);

/** Platforms by the schemes of their apps. */
const platformsByScheme: ReadonlyMap<string, Platform> = new Map([
  ["instagram", "instagram"],
  ["twitter", "twitter"],
  ["fb", "facebook"],
  ["whatsapp", "whatsapp"],
  ["tg", "telegram"],
  ["discord", "discord"],
  ["slack", "slack"],
  ["spotify", "spotify"],
  ["snapchat", "snapchat"],
]);

/** The platform among those given that an address leads to. `website` when the address does not tell. */
export function guessPlatform(url: string, among: readonly Platform[]): Platform {
  const host = hostOf(url);
  const guess =
    host === undefined
      ? platformsByScheme.get(url.slice(0, Math.max(url.indexOf(":"), 0)).toLowerCase())
      : hostAndParents(host)
          .map((domain) => platformsByDomain.get(domain))
          .find((platform) => platform !== undefined);
  return guess !== undefined && among.includes(guess) ? guess : "website";
}

interface PlatformLink {
  readonly platform: string;
  readonly url: string;
}

/** The links with their platforms in lower case, guessed where none is given. */
export function withPlatforms<Link extends PlatformLink>(
  links: readonly Link[],
  among: readonly Platform[],
): Link[] {
  return links.map((link) => ({
    ...link,
    platform: link.platform.toLowerCase() || guessPlatform(link.url, among),
  }));
}

/** What is wrong with the platforms of links. `field` is the JSON path of their list. */
export function platformFaults(
  links: readonly PlatformLink[],
  among: readonly string[],
  field: string,
): Fault[] {
  return links.flatMap(({ platform }, index) =>
    platform === "" || among.includes(platform.toLowerCase())
      ? []
      : [
          {
            field: `${field}[${index}].platform`,
            description: `must be empty or one of ${among.join(", ")}`,
            reason: "INVALID_ARGUMENT",
          },
        ],
  );
}
