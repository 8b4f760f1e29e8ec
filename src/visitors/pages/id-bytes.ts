/** The smallest id. */
export const lowestId = "00000000-0000-0000-0000-000000000000";

/** The 16 bytes of ids, one behind the other. They sort as the ids do. */
export function bytesOfIds(ids: readonly string[]): Buffer {
  return Buffer.from(ids.join("").replaceAll("-", ""), "hex");
}

export function idsOfBytes(bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / 16 }, (_, place) =>
    bytes
      .toString("hex", place * 16, place * 16 + 16)
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  );
}
