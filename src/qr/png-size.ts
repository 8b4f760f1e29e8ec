/** The width and height of a PNG file, in pixels; a RangeError for anything else. */
export function pngSize(png: Uint8Array): { readonly width: number; readonly height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  // The signature's first half, and the first chunk, which must be the header.
  if (png.length < 24 || view.getUint32(0) !== 0x89504e47 || view.getUint32(12) !== 0x49484452)
    throw new RangeError("the picture in the middle is no PNG");
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
