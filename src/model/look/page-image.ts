/** A badge or a cover as pages show it: copies of the uploaded image in the sizes that screens need. */
export interface PageImage {
  /** Where the copies are stored: a storage key that ends with a slash. Nobody can guess it. */
  readonly folder: string;
  /** At least one; of each shape the smallest comes first. */
  readonly copies: readonly [ImageCopy, ...ImageCopy[]];
}

/** One size of an image, in pixels. */
export interface ImageCopy {
  readonly shape: CopyShape;
  readonly width: number;
  readonly height: number;
}

/** TALL is cut for the whole screen of a phone, WIDE has all of the image, and SQUARE is cut for badges. */
export type CopyShape = "tall" | "wide" | "square";

/** The images of a page theme. */
export interface PageMedia {
  readonly badge?: PageImage | undefined;
  readonly cover?: PageImage | undefined;
}

const copyForm = /^(public\/pages\/[0-9a-f]{32}\/)(tall|wide|square)-(\d{1,4})x(\d{1,4})\.webp$/;

/** The name of a copy in its folder. Old browsers get the file of `plainCopy` in its place. */
export function copyName({ shape, width, height }: ImageCopy): string {
  return `${shape}-${width}x${height}.webp`;
}

/** The JPEG of a shape, for browsers that do not know WEBP. */
export function plainCopy(shape: CopyShape): string {
  return `${shape}.jpg`;
}

/** Reads the storage keys of an image's copies. Undefined while there are none. */
export function pageImage(keys: unknown): PageImage | undefined {
  if (!Array.isArray(keys)) return undefined;
  let folder = "";
  const copies = keys.flatMap((key): ImageCopy[] => {
    const [, ownFolder, shape, width, height] = copyForm.exec(String(key)) ?? [];
    if (ownFolder === undefined) return [];
    folder = ownFolder;
    // The expression allows no other shape.
    return [{ shape: shape as CopyShape, width: Number(width), height: Number(height) }];
  });
  const [first, ...rest] = copies.toSorted((one, other) => one.width - other.width);
  return first === undefined ? undefined : { folder, copies: [first, ...rest] };
}
