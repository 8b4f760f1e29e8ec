import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { MissLimit } from "../../lib/limits/miss-limit.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import { type PageTheme, pageTheme } from "../../model/look/page-theme.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import { drawCard } from "../../pages/picture/draw-card.ts";
import { addEnvelope, type Envelope, showNotice } from "./respond.ts";

/** Where the cards of links are, on their own hosts. */
export const cardsPath = "/_p/cards/";

/** How many bytes of painted cards stay in memory. A card has about 10 kB. */
const bytesMax = 4 * 1024 * 1024;

/** How many cards may wait for their turn. Each takes about 30 ms of one processor. */
const waitingMax = 20;

interface DrawnCard {
  readonly svg: string;
  /** Changes with the card. */
  readonly version: string;
}

const drawn = new WeakMap<PageTheme, DrawnCard>();

function cardOf(theme: PageTheme): DrawnCard {
  const known = drawn.get(theme);
  if (known !== undefined) return known;
  const svg = drawCard(theme);
  const made = { svg, version: createHash("sha256").update(svg).digest("hex").slice(0, 12) };
  drawn.set(theme, made);
  return made;
}

/** The address of a link's card. It changes with the theme, so that chats ask again. */
export function cardAddress({ entrypoint, shortlink, pageTheme: styling }: Plan): string {
  const path = `${cardsPath}${shortlink}.jpg?v=${cardOf(pageTheme(styling)).version}`;
  return URL.parse(path, entrypoint)?.href ?? "";
}

/** Who asks for the card of which link. */
export interface CardRequest {
  readonly res: ServerResponse;
  readonly plan: Pick<Plan, "pageTheme">;
  readonly address: string;
}

/** Sends the card of a link. Leaves no visit. */
export type SendCard = (request: CardRequest, envelope: Envelope) => Promise<void>;

/**
 * Paints one card at a time, whatever strangers ask for, and each look once. `limit` is charged for each card that is not
 * in memory, so that nobody who knows links of many looks keeps a processor busy.
 */
export function createLinkCards(limit: MissLimit): SendCard {
  const painted = lruCache<Buffer>(bytesMax, (bytes) => bytes.length);
  const painting = new Map<string, Promise<Buffer>>();
  let last: Promise<unknown> = Promise.resolve();

  function paint({ svg, version }: DrawnCard): Promise<Buffer> {
    const own = last.then(async () => {
      // Most processes never paint a card.
      const { default: sharp } = await import("sharp");
      const bytes = await sharp(Buffer.from(svg)).jpeg({ quality: 82 }).toBuffer();
      painted.set(version, bytes);
      return bytes;
    });
    last = own.catch(() => {});
    painting.set(version, own);
    return own.finally(() => painting.delete(version));
  }

  return async ({ res, plan, address }, envelope) => {
    const wanted = cardOf(pageTheme(plan.pageTheme));
    const { version } = wanted;
    if (!painted.has(version) && !painting.has(version)) {
      if (painting.size >= waitingMax || !limit.allows(address)) {
        showNotice(res, "UNAVAILABLE", envelope, { headers: ["Retry-After", "1"] });
        return;
      }
      limit.charge(address);
    }
    const bytes = painted.get(version) ?? (await (painting.get(version) ?? paint(wanted)));
    const headers = [
      "Content-Type",
      "image/jpeg",
      "Content-Length",
      String(bytes.length),
      "Cache-Control",
      "public, max-age=86400",
      "X-Content-Type-Options",
      "nosniff",
      "X-Robots-Tag",
      "noindex",
    ];
    addEnvelope(headers, envelope.cookie, envelope.isSandbox);
    res.writeHead(200, headers);
    res.end(envelope.isHead ? undefined : bytes);
  };
}
