import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import {
  createPictureReader,
  formatOf,
  type PictureFault,
  type PictureOrder,
  type PictureRules,
} from "./reencode-image.ts";

const reader = createPictureReader({ timeoutMs: 60_000 });
/** For pictures that would take minutes. */
const impatientReader = createPictureReader({ timeoutMs: 500 });
const centre: PictureRules = { formats: ["png", "jpeg", "webp", "svg"], sideMax: 8_000, pngWithin: 1_024 };
const photo: PictureRules = { formats: ["png", "jpeg"], sideMax: 8_000 };
const never = new AbortController().signal;

function read(bytes: Uint8Array, rules = centre) {
  return reader.read(bytes, rules, never);
}

function faultOf(bytes: Uint8Array, rules = centre, by = reader): Promise<string> {
  return by.read(bytes, rules, never).then(
    ({ width, height }) => `read as ${width}×${height}`,
    (fault: PictureFault) => `${fault.name}: ${fault.message}`,
  );
}

/** A single-colour picture, which compresses to almost nothing. */
function flat(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: "#336699" }, limitInputPixels: false });
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A PNG with extra chunks after its header. */
async function pngWith(...chunks: Buffer[]): Promise<Buffer> {
  const png = await flat(32, 32).png().toBuffer();
  return Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);
}

/** A PNG whose header promises more pixels than its data holds. */
async function pngOfSize(width: number, height: number): Promise<Buffer> {
  const png = await flat(32, 32).png().toBuffer();
  const header = Buffer.from(png.subarray(16, 29));
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", header), png.subarray(33)]);
}

/** A black-and-white PNG: one bit per pixel, each row after a byte that names its filter. */
function pngOf(width: number, height: number, packedRows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const chunks = [chunk("IHDR", header), chunk("IDAT", packedRows), chunk("IEND", Buffer.of())];
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks]);
}

function svg(content: string, attributes = 'width="100" height="100"'): Buffer {
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`);
}

/** Drawings that repeat each other: `times` to the power of `levels` copies of the innermost one. */
function useBomb(levels: number, times: number, inner: string): Buffer {
  const group = (level: number) => `<g id="g${level}">${`<use href="#g${level - 1}"/>`.repeat(times)}</g>`;
  const groups = Array.from({ length: levels }, (_, index) => group(index + 1)).join("");
  return svg(`<defs><g id="g0">${inner}</g>${groups}</defs><use href="#g${levels}"/>`);
}

const billionLaughs = [
  '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e0 "haha">',
  ...Array.from({ length: 9 }, (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`),
  ']><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&e9;</text></svg>',
].join("");

const externalEntity =
  '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>';

const tooLarge = "PictureFault: must have at most 8,000 pixels a side";
const unreadable = "PictureFault: cannot be read: save the image again";
const tooSlow = "PictureFault: takes too long to draw: simplify the image";
const encoded = "PictureFault: must be UTF-8 when it is SVG";
const noEntities = "PictureFault: must not define entities: save the SVG without a DOCTYPE";
const outside = "PictureFault: must not refer to anything outside: embed images as PNG or JPEG data";
const handlers = "PictureFault: must not have event handlers: save the SVG as a plain picture";
const wrongKind = "PictureFault: must be a PNG, JPEG, WEBP or SVG without scripts image";
const sheet = "PictureFault: must not have processing instructions or external style sheets";
const noElement = (name: string) =>
  `PictureFault: must not contain <${name}>: save the SVG as a plain picture`;

let packed: Buffer | undefined;
/** 200 MB of zeros, packed once: that takes a second. */
function zeros(): Buffer {
  packed ??= deflateSync(Buffer.alloc(2e8), { level: 1 });
  return packed;
}

/** Malicious files, and the outcome of each. */
const corpus: readonly (readonly [string, () => Buffer | Promise<Buffer>, string])[] = [
  [
    "400 million pixels in 220 kB",
    () => pngOf(20_000, 20_000, deflateSync(Buffer.alloc((1 + 20_000 / 8) * 20_000), { level: 1 })),
    tooLarge,
  ],
  ["a header that promises 4 billion pixels", () => pngOfSize(65_535, 65_535), tooLarge],
  ["a header that promises more than there is", () => pngOfSize(4_000, 4_000), unreadable],
  ["one pixel too wide", () => flat(8_001, 1).png().toBuffer(), tooLarge],
  ["a JPEG too high", () => flat(1, 8_001).jpeg().toBuffer(), tooLarge],
  [
    "a text chunk that unpacks to 200 MB",
    () => pngWith(chunk("zTXt", Buffer.concat([Buffer.from("Comment\0\0"), zeros()]))),
    "read as 32×32",
  ],
  [
    "a colour profile that unpacks to 200 MB",
    () => pngWith(chunk("iCCP", Buffer.concat([Buffer.from("icc\0\0"), zeros()]))),
    "read as 32×32",
  ],
  ["an animation", () => animation(), "PictureFault: must not be animated"],
  ["half a PNG", async () => half(await noise().png().toBuffer()), unreadable],
  ["half a JPEG", async () => half(await noise().jpeg().toBuffer()), unreadable],
  ["half a WEBP", async () => half(await noise().webp().toBuffer()), unreadable],
  ["half an SVG", () => half(svg("<rect/>".repeat(200))), unreadable],
  ["nothing but the first bytes of a PNG", () => Buffer.from("89504e470d0a1a0a", "hex"), unreadable],
  ["a GIF", async () => flat(9, 9).gif().toBuffer(), wrongKind],
  ["a TIFF", async () => flat(9, 9).tiff().toBuffer(), wrongKind],
  ["an AVIF", async () => flat(9, 9).avif().toBuffer(), wrongKind],
  ["a PDF", () => Buffer.from("%PDF-1.7\n1 0 obj"), wrongKind],
  ["a page", () => Buffer.from("<!doctype html><html><svg></svg></html>"), wrongKind],
  ["a script", () => Buffer.from("alert(1)//<svg>"), wrongKind],
  ["nothing", () => Buffer.of(), wrongKind],
  ["SVG with a script", () => svg("<script>alert(1)</script>"), noElement("script")],
  [
    "SVG with a script of another prefix",
    () => svg('<x:ScRiPt xmlns:x="a">1</x:ScRiPt>'),
    noElement("script"),
  ],
  [
    "SVG with a page inside",
    () => svg("<foreignObject><p>x</p></foreignObject>"),
    noElement("foreignobject"),
  ],
  ["SVG with a handler", () => svg("<rect/>", 'onload="alert(1)"'), handlers],
  ["SVG with a handler behind a slash", () => svg("<rect/onclick='alert(1)'/>"), handlers],
  ["SVG that asks a server", () => svg('<image href="http://169.254.169.254/latest"/>'), outside],
  ["SVG that asks another server", () => svg('<use xlink:href="//evil.example/a.svg#b"/>'), outside],
  ["SVG that reads a file", () => svg('<image href="file:///etc/passwd"/>'), outside],
  ["SVG that reads a file nearby", () => svg("<image href='logo.png'/>"), outside],
  ["SVG with an escaped address", () => svg('<image href="&#104;ttp://evil.example"/>'), outside],
  ["SVG in an SVG", () => svg('<image href="data:image/svg+xml;base64,AAAA"/>'), outside],
  [
    "SVG whose style asks a server",
    () => svg("<style>@import 'http://evil.example/a.css';</style>"),
    outside,
  ],
  ["SVG filled from a server", () => svg('<rect fill="url(http://evil.example/a#b)"/>'), outside],
  ["SVG with entities in entities", () => Buffer.from(billionLaughs), noEntities],
  ["SVG with an outside entity", () => Buffer.from(externalEntity), noEntities],
  ["SVG in UTF-16", () => Buffer.from(`\u{feff}${svg("<script>1</script>")}`, "utf16le"), wrongKind],
  [
    "SVG that says it is UTF-7",
    () => Buffer.from(`<?xml version="1.0" encoding="UTF-7"?>${svg("+ADw-script+AD4-")}`),
    encoded,
  ],
  ["SVG with a style sheet", () => Buffer.from(`<?xml-stylesheet href="a.xsl"?>${svg("")}`), sheet],
  ["SVG of a billion copies", () => useBomb(9, 10, '<rect width=".1" height=".1"/>'), tooSlow],
  [
    "SVG of 100,000 copies, each see-through",
    () => useBomb(5, 10, '<rect width="90" height="90" opacity=".5"/>'),
    tooSlow,
  ],
  [
    "SVG with blur upon blur",
    () =>
      svg(
        `<filter id="f">${'<feGaussianBlur stdDeviation="900"/>'.repeat(400)}</filter><rect width="1e4" height="1e4" filter="url(#f)"/>`,
        'width="4000" height="4000"',
      ),
    tooSlow,
  ],
  [
    "SVG with a hundred thousand groups in each other",
    () => svg(`${"<g>".repeat(1e5)}${"</g>".repeat(1e5)}`),
    unreadable,
  ],
  ["SVG of a trillion pixels", () => svg("<rect/>", 'width="1000000" height="1000000"'), tooLarge],
  ["SVG without a size", () => svg('<rect width="0" height="0"/>', 'width="0" height="0"'), unreadable],
];

function noise() {
  const [width, height] = [200, 200];
  const pixels = Uint8Array.from({ length: width * height * 3 }, (_, index) => (index * 7919) % 251);
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length >> 1);
}

async function animation(): Promise<Buffer> {
  const frames = await Promise.all(
    ["red", "blue"].map((background) =>
      sharp({ create: { width: 20, height: 20, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  );
  return sharp(frames, { join: { animated: true } })
    .webp()
    .toBuffer();
}

/** Some files take seconds to make. */
const made = new Map<string, Buffer>();
async function fileOf([name, make]: (typeof corpus)[number]): Promise<Buffer> {
  const bytes = made.get(name) ?? (await make());
  made.set(name, bytes);
  return bytes;
}

describe("malicious files", () => {
  test.each(corpus)("%s", { timeout: 60_000 }, async (...row) => {
    const [, , expected] = row;
    const by = expected === tooSlow ? impatientReader : reader;
    expect(await faultOf(await fileOf(row), centre, by)).toBe(expected);
  });
});

/** The peak memory of reading one picture, in MB, including the process. */
async function peakMemory(order: PictureOrder): Promise<number> {
  const child = fork(new URL("./reencode-image-process.ts", import.meta.url), [], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  try {
    const done = new Promise((resolve) => child.once("message", resolve));
    child.send(order);
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 1_500).unref())]);
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
  } finally {
    child.kill("SIGKILL");
  }
}

const withProc = test.skipIf(process.platform !== "linux"); // /proc tells the memory of a process

describe("memory", () => {
  /** The files that reach a decoder. */
  const decoded = corpus.filter(
    ([, , expected]) =>
      ![wrongKind, encoded, noEntities, outside, handlers, sheet].includes(expected) &&
      !expected.startsWith("PictureFault: must not contain"),
  );

  withProc.each(decoded)("stays below 400 MB for %s", { timeout: 60_000 }, async (...row) => {
    const bytes = await fileOf(row);
    const format = formatOf(bytes) ?? "png";
    expect(await peakMemory({ bytes, format, sideMax: 8_000, pngWithin: 1_024 })).toBeLessThan(400);
  });

  withProc("stays below 600 MB for the largest picture allowed", { timeout: 60_000 }, async () => {
    const bytes = await flat(8_000, 8_000).png({ progressive: true }).toBuffer();
    expect(await peakMemory({ bytes, format: "png", sideMax: 8_000, pngWithin: undefined })).toBeLessThan(
      600,
    );
  });
});

describe("of a picture is kept", () => {
  test("the format and size of a PNG or JPEG", async () => {
    for (const format of ["png", "jpeg"] as const) {
      const picture = await read(await noise().toFormat(format).toBuffer(), photo);
      expect(picture).toMatchObject({ format, width: 200, height: 200 });
      expect(formatOf(picture.bytes)).toBe(format);
    }
  });

  test("the pixels of a PNG, exactly", async () => {
    const { bytes } = await read(await noise().png().toBuffer(), photo);
    expect(await sharp(bytes).raw().toBuffer()).toEqual(await noise().raw().toBuffer());
  });

  test("transparency", async () => {
    const source = sharp({ create: { width: 8, height: 8, channels: 4, background: "#ff000080" } });
    const { bytes } = await read(await source.png().toBuffer());
    expect([...(await sharp(bytes).raw().toBuffer()).subarray(0, 4)]).toEqual([255, 0, 0, 128]);
  });

  test("the orientation of a photo, without its camera and place", async () => {
    const exif = { IFD0: { Make: "A camera", Copyright: "somebody" }, IFD3: { GPSLatitude: "50/1 5/1 0/1" } };
    const sideways = await flat(60, 30).jpeg().withExif(exif).withMetadata({ orientation: 6 }).toBuffer();
    expect((await sharp(sideways).metadata()).exif).toBeDefined();
    const { bytes, width, height } = await read(sideways, photo);
    expect([width, height]).toEqual([30, 60]);
    expect((await sharp(bytes).metadata()).exif).toBeUndefined();
    expect(Buffer.from(bytes).includes("A camera")).toBe(false);
  });

  test("nothing of the bytes after the picture", async () => {
    const payload = "<script>alert(document.domain)</script>PK\u0003\u0004";
    for (const format of ["png", "jpeg"] as const) {
      const { bytes } = await read(
        Buffer.concat([await noise().toFormat(format).toBuffer(), Buffer.from(payload)]),
        photo,
      );
      expect(Buffer.from(bytes).includes("<script>")).toBe(false);
    }
  });

  test("only the still picture of an animated PNG", async () => {
    expect(await faultOf(await pngWith(chunk("acTL", Buffer.of(0, 0, 0, 9, 0, 0, 0, 0))))).toBe(
      "read as 32×32",
    );
  });
});

describe("pictures for a square", () => {
  test("are PNG, shrunk to fit and never enlarged", async () => {
    expect(await read(await flat(4_000, 2_000).jpeg().toBuffer())).toMatchObject({
      format: "png",
      width: 1_024,
      height: 512,
    });
    expect(await read(await flat(40, 20).webp().toBuffer())).toMatchObject({
      format: "png",
      width: 40,
      height: 20,
    });
  });

  test("are drawn at full size when they are drawings", async () => {
    const icon = svg(
      '<circle cx="12" cy="12" r="12" fill="url(#g)"/><linearGradient id="g"/>',
      'width="24" height="24"',
    );
    expect(await read(icon)).toMatchObject({ format: "png", width: 1_024, height: 1_024 });
  });

  test("may embed pictures as data URLs", async () => {
    const inner = (await flat(10, 10).png().toBuffer()).toString("base64");
    const { bytes } = await read(
      svg(`<image width="100" height="100" href="data:image/png;base64,${inner}"/>`),
    );
    const { dominant } = await sharp(bytes).stats();
    expect(dominant.b).toBeGreaterThan(dominant.r);
  });

  test("may begin with the preambles that drawing programs write", async () => {
    const doctype =
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">';
    const front =
      '\u{feff}<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- Made with a program -->\n';
    expect(await faultOf(Buffer.from(`${front}${doctype}${svg("<rect/>")}`))).toBe("read as 1024×1024");
  });
});

test("refuses formats outside of the rules", async () => {
  const refused = "PictureFault: must be a PNG or JPEG image";
  expect(await faultOf(await flat(9, 9).webp().toBuffer(), photo)).toBe(refused);
  expect(await faultOf(svg("<rect/>"), photo)).toBe(refused);
});

test("stops the work when nobody waits for it any more", async () => {
  const controller = new AbortController();
  const reading = reader.read(
    useBomb(5, 10, '<rect width="90" height="90" opacity=".5"/>'),
    centre,
    controller.signal,
  );
  controller.abort(new Error("gone"));
  await expect(reading).rejects.toThrow("gone");
});
