import { describe, expect, test } from "vitest";
import { isDesignReadable } from "../../src/qr/gate/verify.ts";
import { zbarimg } from "../support/qr-readers.ts";
import { hasTool } from "../support/system-tool.ts";
import { randomDesigns } from "./random-designs.ts";
import { readBack } from "./read-back.ts";
import { designOf, everyPair, nameOf, sampleContent } from "./samples.ts";

/* Samples of `npm run gallery -- --verify`, which tests all combinations and a thousand random designs. */
describe.skipIf(!hasTool(zbarimg))("drawn as a file", () => {
  test("every pair of forms, formats, sizes and pictures is read by ZBar and ZXing, or refused by the gate", async () => {
    const combinations = everyPair();
    expect(combinations.length).toBeGreaterThanOrEqual(60);
    const drawn = combinations.map((combination) => ({
      content: sampleContent,
      design: designOf(combination),
      format: combination.format,
    }));
    const outcomes = await readBack(drawn);
    const unread = combinations.filter((_, index) => {
      const outcome = outcomes[index];
      return outcome === undefined || (outcome.readBy.length < 2 && !outcome.isRefused);
    });
    expect(unread.map(nameOf)).toEqual([]);
    const unreadWithoutPicture = combinations.filter(
      ({ imageSize }, index) => imageSize === 0 && (outcomes[index]?.readBy.length ?? 0) < 2,
    );
    expect(unreadWithoutPicture.map(nameOf)).toEqual([]);
  }, 180_000);

  test("no random design that the gate calls readable fails a reader, and both verdicts occur", async () => {
    const designs = randomDesigns(20_260_801);
    const drawn = Array.from({ length: 24 }, () => designs.next().value);
    const verdicts: boolean[] = [];
    for (const { content, design } of drawn) verdicts.push(await isDesignReadable(content, design));
    const readable = drawn.filter((_, index) => verdicts[index]);
    expect(readable.length).toBeGreaterThan(4);
    expect(readable.length).toBeLessThan(drawn.length);
    for (const { readBy } of await readBack(readable)) expect(readBy).toEqual(["zbar", "zxing"]);
  }, 180_000);
});
