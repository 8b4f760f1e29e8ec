import { createHash } from "node:crypto";
import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { PageThemeStylingSchema } from "../../gen/signpost/v1/page_theme_styling_pb.js";
import { testDatabase } from "../../test/support/test-database.ts";
import { openStorage } from "../lib/storage/open-storage.ts";
import { builtInThemes } from "../model/look/built-in-themes.ts";
import { lookHash } from "../model/look/look-hash.ts";
import { pageTheme } from "../model/look/page-theme.ts";
import { paletteOf } from "../model/look/palette.ts";
import { noWorkspace } from "../model/no-workspace.ts";
import { storeBuiltInTemplates } from "./built-in-templates.ts";
import { builtInFiles } from "./built-in-themes.ts";

const { db } = await testDatabase();
const at = new Date("2026-11-22T10:00:00.000Z");
const later = new Date("2026-11-22T11:00:00.000Z");

function stored() {
  return db
    .selectFrom("page_theme_templates as t")
    .innerJoin("page_themes as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.id", "=", "t.look_id"),
    )
    .innerJoin("page_theme_template_slugs as s", "s.template_id", "t.id")
    .select(["t.id", "s.slug", "t.name", "t.look_hash", "t.updated_at", "t.thumbnail_pending_update_since"])
    .select(["p.styling", "p.template_id", "p.updated_at as restyled_at", "s.published_at"])
    .where("t.workspace_id", "=", noWorkspace)
    .orderBy("t.created_at", "desc")
    .execute();
}

async function waitingJobs(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from graphile_worker.jobs
    where task_identifier = 'render-page-theme-thumbnail'`.execute(db);
  return rows[0]?.count ?? 0;
}

describe("the built-in themes", () => {
  test("are six, and no two share a name or a slug", () => {
    expect(builtInThemes).toHaveLength(6);
    expect(new Set(builtInThemes.map(({ name }) => name)).size).toBe(6);
    expect(new Set(builtInThemes.map(({ slug }) => slug)).size).toBe(6);
    for (const { slug } of builtInThemes) expect(slug).toMatch(/^[a-z0-9-]{3,64}$/);
  });

  test("differ in more than colors", () => {
    const colorless = builtInThemes.map(({ styling }) =>
      JSON.stringify(styling, (key, value: unknown) => (key === "colors" ? undefined : value)),
    );
    expect(new Set(colorless).size).toBe(6);
    const faces = builtInThemes.map(({ styling }) => JSON.stringify(pageTheme(styling).title.family));
    expect(new Set(faces).size).toBeGreaterThanOrEqual(5);
  });

  test.each(builtInThemes)(
    "$slug is written as a theme is stored, and keeps every color it asks for",
    (theme) => {
      const styling = theme.styling as JsonObject; // it is written to the database as it is
      expect(toJson(PageThemeStylingSchema, fromJson(PageThemeStylingSchema, styling))).toEqual(styling);
      expect(paletteOf(pageTheme(styling), theme.hasCover === true).moved).toEqual([]);
    },
  );
});

describe("at a start, the built-in themes", () => {
  beforeAll(() => storeBuiltInTemplates(db, at));

  test("are published with their looks", async () => {
    const rows = await stored();
    expect(rows.map(({ slug }) => slug)).toEqual(builtInThemes.map(({ slug }) => slug));
    for (const { id, template_id, published_at } of rows) {
      expect(template_id).toBe(id);
      expect(published_at).not.toBeNull();
    }
  });

  test("have their cover as a media file, whose bytes come with the program", async () => {
    const media = await db.selectFrom("media").selectAll().where("workspace_id", "=", noWorkspace).execute();
    expect(media).toHaveLength(1);
    const [{ id = "", storage_key = "", sha256, size_bytes } = {}] = media;
    const storage = await openStorage({ directory: "unused", shipped: builtInFiles });
    const file = await storage.get(storage_key);
    expect(file?.contentType).toBe("image/jpeg");
    expect(file?.bytes.length).toBe(Number(size_bytes));
    expect(file?.bytes.length).toBeLessThan(60_000);
    expect(
      createHash("sha256")
        .update(file?.bytes ?? "")
        .digest("hex"),
    ).toBe(sha256);
    const covered = (await stored()).filter(({ styling }) => JSON.stringify(styling).includes(id));
    expect(covered.map(({ slug }) => slug)).toEqual(["daybreak"]);
    const [{ styling = {}, look_hash } = {}] = covered;
    expect(look_hash).toBe(lookHash(styling as object, { cover: sha256 ?? null, badge: null }));
  });

  test("are written once, and again where they have changed, with a new thumbnail", async () => {
    const before = await stored();
    const jobs = await waitingJobs();
    await storeBuiltInTemplates(db, later);
    expect(await stored()).toEqual(before);
    expect(await waitingJobs()).toBe(jobs);
    await db
      .updateTable("page_themes")
      .set({ styling: {} })
      .where("template_id", "=", before[1]?.id ?? "")
      .execute();
    await Promise.all([storeBuiltInTemplates(db, later), storeBuiltInTemplates(db, later)]);
    const changed = { updated_at: later, restyled_at: later, thumbnail_pending_update_since: later };
    expect(await stored()).toEqual(before.map((row, index) => (index === 1 ? { ...row, ...changed } : row)));
    expect(await waitingJobs()).toBeGreaterThan(jobs);
  });
});
