import { fileURLToPath } from "node:url";
import sharp from "sharp";

/** So many pixels a picture has at most: 16 MB while it is painted. */
export const pixelsMax = 4_000_000;

/** The fonts of pictures, which come with the service: the machines that it runs on often have none. */
const fonts = ["400Regular/Inter_400Regular.ttf", "600SemiBold/Inter_600SemiBold.ttf"].map((file) =>
  fileURLToPath(import.meta.resolve(`@expo-google-fonts/inter/${file}`)),
);

let known: Promise<unknown> | undefined;

/**
 * Tells the library that paints texts where our fonts are. It knows a font file once a text was painted with it, and uses
 * it from then on for every text in a font of that name.
 */
function loadFonts(): Promise<unknown> {
  known ??= Promise.all(
    fonts.map((fontfile) =>
      sharp({ text: { text: "Signpost", font: "Inter", fontfile } })
        .raw()
        .toBuffer(),
    ),
  );
  return known;
}

/** Paints an SVG of ours, on another thread. */
export async function paint(svg: string): Promise<Buffer> {
  await loadFonts();
  return sharp(Buffer.from(svg), { limitInputPixels: pixelsMax })
    .png({ compressionLevel: 7, palette: false })
    .toBuffer();
}
