import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { busyMs, busyMsMax } from "./support/metrics.ts";
import { onePixel } from "./support/one-pixel.ts";
import { readWithZxing } from "./support/qr-readers.ts";
import { type RestApi, restApi } from "./support/rest-api.ts";
import { s3Credentials, startS3Server } from "./support/s3-server.ts";
import { type Service, startService } from "./support/start-service.ts";

interface Place {
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The places where a service keeps its files, and how to open them. */
const places: Readonly<Record<string, () => Promise<Place>>> = {
  "a local folder": async () => ({ env: {}, close: async () => {} }),
  "a bucket": async () => {
    const { endpoint, close } = await startS3Server();
    return { env: bucketAt(endpoint), close };
  },
  "a bucket of versitygw": startGateway,
};

function bucketAt(endpoint: string): Place["env"] {
  const { bucket, region, accessKeyId, secretAccessKey } = s3Credentials;
  return {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_REGION: region,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

/** An independent S3 server (github.com/versity/versitygw), whose buckets are folders. */
async function startGateway(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  await mkdir(join(folder, s3Credentials.bucket));
  const port = await freePort();
  const { accessKeyId, secretAccessKey, region } = s3Credentials;
  const flags = ["--port", `127.0.0.1:${port}`, "--access", accessKeyId, "--secret", secretAccessKey];
  const server = spawn("versitygw", [...flags, "--region", region, "posix", folder], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(endpoint), { timeout: 20_000, interval: 50 });
  return {
    env: bucketAt(endpoint),
    close: async () => {
      server.kill();
      await rm(folder, { recursive: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

interface Shown {
  readonly link: {
    readonly id: string;
    readonly entrypoint: string;
    readonly qrcodeDesignId: string;
  } & Waiting;
  readonly qrcodeDesign: { readonly id: string; readonly centralImageSignedUrl: string };
  readonly scannability: { readonly readable: boolean };
  readonly qrcodeTemplate: { readonly id: string };
  readonly media: { readonly id: string; readonly signedUrl: string };
}
interface Waiting {
  readonly qrcodeSignedUrl?: string;
  readonly qrcodePendingUpdateSince?: string;
  readonly thumbnailSignedUrl?: string;
}

const patience = { timeout: 30_000, interval: 100 };

/**
 * Without the program the tests are skipped: `go install github.com/versity/versitygw/cmd/versitygw@latest`, with its
 * folder on the path.
 */
const hasGateway = spawnSync("versitygw", ["--version"]).error === undefined;

for (const [name, open] of Object.entries(places)) {
  describe.skipIf(open === startGateway && !hasGateway)(`a service that keeps its files in ${name}`, () => {
    let place: Place;
    let service: Service;
    let api: RestApi;
    beforeAll(async () => {
      place = await open();
      service = await startService({ env: place.env });
      api = restApi(service.baseUrl, service.credentials.accessToken);
    });
    afterAll(async () => {
      await service.stop();
      await place.close();
    });

    async function imageAt(url: string | undefined): Promise<Buffer> {
      const res = await fetch(url ?? "");
      expect(res.status).toBe(200);
      return Buffer.from(await res.arrayBuffer());
    }

    test("draws the code of a link with a picture in it, and again when its design changes", async () => {
      const logo = await sharp({ create: { width: 50, height: 50, channels: 3, background: "#8338ec" } })
        .png()
        .toBuffer();
      const design = await api.call<Shown>("POST", "/v1/public/qrcode-designs", {
        centralImageData: logo.toString("base64"),
        centralImageSize: 0.2,
      });
      expect(await imageAt(design.qrcodeDesign.centralImageSignedUrl)).toHaveProperty("length");
      const { link } = await api.call<Shown>("POST", "/v1/links", {
        destination: "https://example.com/menu",
        qrcodeDesignId: design.qrcodeDesign.id,
        waitForQrcode: true,
      });
      const content = `${link.entrypoint}?qr`;
      expect(await readWithZxing(await imageAt(link.qrcodeSignedUrl))).toEqual([content]);

      await api.call("PATCH", `/v1/qrcode-designs/${link.qrcodeDesignId}`, {
        outputFileFormat: "OUTPUT_FILE_FORMAT_JPEG",
      });
      await vi.waitFor(async () => {
        const path = `/v1/links/${link.id}?include=qrcodeSignedUrl`;
        const { link: drawn } = await api.call<Shown>("GET", path);
        expect(drawn.qrcodePendingUpdateSince).toBeUndefined();
        const image = sharp(await imageAt(drawn.qrcodeSignedUrl));
        expect((await image.metadata()).format).toBe("jpeg");
        expect(await readWithZxing(await image.png().toBuffer())).toEqual([content]);
      }, patience);
    });

    test("draws thumbnails of templates", async () => {
      const { qrcodeTemplate } = await api.call<Shown>("POST", "/v1/qrcode-templates/import", {
        slug: "classic",
      });
      await vi.waitFor(async () => {
        const shown = await api.call<Waiting>("GET", `/v1/qrcode-templates/${qrcodeTemplate.id}`);
        expect(shown.thumbnailSignedUrl).toBeTruthy();
        expect(await readWithZxing(await imageAt(shown.thumbnailSignedUrl))).toHaveLength(1);
      }, patience);
    });

    // Only the centers and frames of the finder patterns are dark.
    const pale = { type: "THEME_COLOR_TYPE_SOLID", colors: ["#f4f4f4"] };

    test("blocks other calls for at most 200 ms while it verifies an unreadable code", async () => {
      await busyMs(service);
      const answer = await fetch(`${service.baseUrl}/v1/public/qrcode-designs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ dotsOptions: { themeColor: pale }, requireScannable: true }),
      });
      expect(await answer.json()).toMatchObject({ error: { codeType: "DESIGN_NOT_SCANNABLE" } });
      expect(await busyMs(service)).toBeLessThan(busyMsMax);
    });

    test("gives public images to everyone", async () => {
      const { media } = await api.call<Shown>("POST", "/v1/media", {
        fileData: onePixel,
        mediaType: "TYPE_BADGE",
        visibility: "VISIBILITY_PUBLIC",
      });
      expect(media.signedUrl).not.toContain("signature");
      expect((await sharp(await imageAt(media.signedUrl)).metadata()).format).toBe("png");
    });
  });
}
