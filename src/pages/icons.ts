import { raw } from "hono/html";
import type { Markup } from "./markup.ts";

const circle = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z";

/** Line drawings of 24 by 24, drawn in the color of the text beside them. */
const glyphs = {
  arrow: "M9 6l6 6-6 6",
  check: "M5 12.5l4.5 4.5L19 7.5",
  download: "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14",
  lock: "M6 11h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1zM8 11V8a4 4 0 0 1 8 0v3",
  mail: "M4 5.5h16a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM3.5 7L12 13l8.5-6",
  phone:
    "M5 4h4l1.5 4.5L8.3 10a12 12 0 0 0 5.7 5.7l1.5-2.2L20 15v4a1.5 1.5 0 0 1-1.6 1.5A15.5 15.5 0 0 1 3.5 5.6 1.5 1.5 0 0 1 5 4z",
  pin: "M12 21.5c4.5-4.6 7-8.3 7-11.5a7 7 0 0 0-14 0c0 3.2 2.5 6.9 7 11.5zM12 7.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  signpost: "M12 3v18M12 5h6l2.5 2.5L18 10h-6M12 12H6l-2.5 2.5L6 17h6",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9L3.5 9.7l5.9-.8z",

  appstore: "M13.5 5l-7 12.5M10.5 5l7 12.5M4 14h9.5M17 14h3",
  applemusic:
    "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
  calendly:
    "M5 5h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zM3 10h18M8 3v4M16 3v4M8 15l2.5 2.5L15.5 13",
  discord:
    "M8 6c-2 .4-3 1-3.5 1.5C3 11 2.7 14 3 17c1.5 1.3 3 1.8 4.5 2l1-2M16 6c2 .4 3 1 3.5 1.5 1.5 3.5 1.8 6.5 1.5 9.5-1.5 1.3-3 1.8-4.5 2l-1-2M8 6.3c2.7-.7 5.3-.7 8 0M7 16.5c3.3 1 6.7 1 10 0M9 12.3h.01M15 12.3h.01",
  facebook: "M17 3h-2.5A4 4 0 0 0 10.5 7v14M6.5 12h9",
  github:
    "M7 3a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 7 3zM7 16.6a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM17 5a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 17 5zM7 7.4v9.2M17 9.4c0 3.6-3 4.1-5.5 4.6S7 15.5 7 16.6",
  instagram:
    "M7.5 3h9A4.5 4.5 0 0 1 21 7.5v9a4.5 4.5 0 0 1-4.5 4.5h-9A4.5 4.5 0 0 1 3 16.5v-9A4.5 4.5 0 0 1 7.5 3zM12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM17 7h.01",
  linkedin:
    "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM7.5 11v6M7.5 7.5h.01M11.5 17v-6M11.5 13.5a2.5 2.5 0 0 1 5 0V17",
  medium: "M3 18V6l6 11 6-11v12M19 6v12",
  pinterest: `${circle}M10 19.5L12.5 10M9 13c-1-3 .8-5.5 3.5-5.5s4 2 3.2 4.5c-.8 2.7-3.7 3.3-4.7 1.5`,
  playstore: "M5 3.5v17L20 12zM5 3.5l10.3 11.2M5 20.5L15.3 9.3",
  reddit:
    "M12 9c-4.5 0-8 2.5-8 5.7s3.5 5.8 8 5.8 8-2.6 8-5.8S16.5 9 12 9zM12 9l1.3-5 4.2 1M9 13.5h.01M15 13.5h.01M9 17c1.8 1.3 4.2 1.3 6 0",
  slack: "M10 3L8 21M16 3l-2 18M4 9h17M3 15h17",
  snapchat:
    "M12 3c-3 0-4.5 2-4.5 5v2l-2 .5 2 1.5c-.5 2-2 3.5-4 4 1 1.3 2.3 1.2 3.5 1.5.5 1 1.5.5 2.5 1s1.5 1.5 2.5 1.5 1.5-1 2.5-1.5 2 0 2.5-1c1.2-.3 2.5-.2 3.5-1.5-2-.5-3.5-2-4-4l2-1.5-2-.5V8c0-3-1.5-5-4.5-5z",
  spotify: `${circle}M7.5 9.5c3-1 6.5-.7 9.3 1M8 12.7c2.6-.8 5.3-.5 7.7.9M8.5 15.7c2-.6 4.2-.3 6 .7`,
  telegram: "M21 4L3 11.5l6 2.2L11.5 20zM9 13.7L21 4",
  tiktok: "M14 3v12.5a4 4 0 1 1-4-4M14 3c.3 2.8 2.3 4.8 5.5 5",
  twitch: "M5 3h15v11l-4 4h-4l-3 3v-3H5zM11 8v4M15.5 8v4",
  twitter: "M4 4h4l12 16h-4zM19.5 4l-6.7 7.3M11 13.5L4.5 20",
  website: `${circle}M3 12h18M12 3c4.5 5.5 4.5 12.5 0 18M12 3c-4.5 5.5-4.5 12.5 0 18`,
  whatsapp: "M3.5 20.5l1.3-4.3A8.5 8.5 0 1 1 8 19.4zM9.3 8.3v1.5c0 2.7 2.2 4.9 4.9 4.9h1.5",
  youtube: "M5 5h14a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3V8a3 3 0 0 1 3-3zM10 9l5 3-5 3z",
} as const;

export type Glyph = keyof typeof glyphs;

/** A drawing for decoration. Words beside it must say what it means. */
export function icon(glyph: Glyph): Markup {
  return raw(`<svg class="i" viewBox="0 0 24 24" aria-hidden="true"><path d="${glyphs[glyph]}"/></svg>`);
}

/** The lines of a drawing, as the data of a path in SVG. */
export function glyphPath(glyph: Glyph): string {
  return glyphs[glyph];
}

/** The platforms' names, in their own spelling. */
const platforms = {
  appstore: "App Store",
  applemusic: "Apple Music",
  calendly: "Calendly",
  discord: "Discord",
  facebook: "Facebook",
  github: "GitHub",
  instagram: "Instagram",
  linkedin: "LinkedIn",
  medium: "Medium",
  pinterest: "Pinterest",
  playstore: "Google Play",
  reddit: "Reddit",
  slack: "Slack",
  snapchat: "Snapchat",
  spotify: "Spotify",
  telegram: "Telegram",
  tiktok: "TikTok",
  twitch: "Twitch",
  twitter: "X",
  whatsapp: "WhatsApp",
  youtube: "YouTube",
} as const satisfies Partial<Record<Glyph, string>>;

/** What to draw and to say for a social link. A website is named by its host. */
export function platformOf(platform: string, url: string): { readonly glyph: Glyph; readonly name: string } {
  if (isPlatform(platform)) return { glyph: platform, name: platforms[platform] };
  const host = URL.canParse(url) ? new URL(url).host.replace(/^www\./, "") : "";
  return { glyph: "website", name: host || url };
}

function isPlatform(text: string): text is keyof typeof platforms {
  return Object.hasOwn(platforms, text);
}
