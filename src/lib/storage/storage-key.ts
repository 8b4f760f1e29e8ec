/** Content types by file name extension: none that a browser would run as a page of ours. */
const contentTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
  svg: "image/svg+xml",
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  zip: "application/zip",
  // Files of exports, which are compressed.
  "csv.gz": "application/gzip",
  "ndjson.gz": "application/gzip",
  parquet: "application/vnd.apache.parquet",
};

// Keys are lower case, because some file systems ignore case. A dot is allowed only before the extension, so that no key can
// leave its folder, be hidden, or be the folder of another key.
const keyPattern = /^(?:[a-z0-9_-]{1,100}\/){0,8}[a-z0-9_-]{1,100}\.((?:[a-z]{3,6}\.)?[a-z]{2,7})$/;

/**
 * The content type of a key's extension; undefined for a malformed key. A key has up to 8 folders and a name, each of
 * `[a-z0-9_-]{1,100}`, and one of the extensions above.
 */
export function contentTypeOf(key: string): string | undefined {
  const extension = keyPattern.exec(key)?.[1];
  return extension !== undefined && Object.hasOwn(contentTypes, extension)
    ? contentTypes[extension]
    : undefined;
}

/**
 * Returns the content type of a key. Throws a RangeError when the key is malformed or its type differs from `expected`.
 */
export function checkKey(key: string, expected?: string): string {
  const contentType = contentTypeOf(key);
  if (contentType === undefined) throw new RangeError(`malformed storage key ${JSON.stringify(key)}`);
  if (expected !== undefined && expected !== contentType)
    throw new RangeError(`storage key ${JSON.stringify(key)} stands for ${contentType}, not ${expected}`);
  return contentType;
}
