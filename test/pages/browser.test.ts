import axe from "axe-core";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fontsPath } from "../../gen/fonts.ts";
import { notice, tooManyTries } from "../../src/hosted/notice.ts";
import { renderPreview } from "../../src/hosted/steps/preview.ts";
import { renderStep } from "../../src/hosted/steps/render-step.ts";
import type { StepView } from "../../src/hosted/view.ts";
import { filesPath } from "../../src/lib/storage/file-url.ts";
import type { HostedPage } from "../../src/pages/page.ts";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { hostileTexts, poison, textualViews } from "./hostile.ts";
import { type PageServer, servePages } from "./serve-pages.ts";
import { newView, refusedForm, refusedPassword, steps } from "./specimens.ts";
import { images, themes } from "./themes.ts";

/** Every page, as a visitor with a language opens it. */
function everyPage(view: Partial<StepView> = {}): HostedPage[] {
  const { language = "en" } = view;
  return [
    ...Object.values(steps).map((step) => renderStep(newView(step, view))),
    renderStep(refusedForm(view)),
    renderStep(refusedPassword(view)),
    renderPreview({
      ...newView(steps.form, view),
      entrypoint: "https://go.example/4BnH-R19p",
      cardAddress: "",
    }),
    notice("NOT_FOUND", language),
    tooManyTries(language, 900),
  ];
}

/** Pages that together use every color. */
function colorfulPages(view: Partial<StepView>): HostedPage[] {
  const { form, socialLinks, contactCard, timer } = steps;
  const opened = [form, socialLinks, contactCard, timer].map((step) => renderStep(newView(step, view)));
  return [...opened, renderStep(refusedForm(view)), renderStep(refusedPassword(view))];
}

describe.skipIf(!hasBrowser)("in a browser, hosted pages", () => {
  const visit = launchBrowser();
  let server: PageServer;
  beforeAll(async () => {
    server = await servePages();
  });
  afterAll(() => server?.close());

  test("run no scripts and gain no elements, whatever the texts, even without their policy", async () => {
    const ran: string[] = [];
    await visit({}, async (page) => {
      await page.exposeFunction("ran", () => ran.push(page.url()));
      for (const view of textualViews) {
        const texts = ["harmless", "https://harmless.example/", ...hostileTexts];
        const frames = texts.map((text) =>
          server.put(renderStep(poison(view, text)), { withoutPolicy: true }),
        );
        await page.goto(server.put(frameset(frames)));
        const [word, link, ...hostile] = await page.evaluate<string[]>(skeletons);
        for (const [index, text] of hostileTexts.entries()) {
          expect(hostile[index], text).toBe(text.startsWith("https:") ? link : word);
        }
        expect(word).toContain("H1");
      }
    });
    expect(ran).toEqual([]);
  }, 120_000);

  test.each([
    ["in the light", {}, everyPage()],
    ["in the dark", { colorScheme: "dark" }, colorfulPages({})],
    ["from right to left", {}, colorfulPages({ language: "ar" })],
    ["in a bright theme", {}, colorfulPages({ theme: themes.sunset })],
    ["in a dark theme", {}, colorfulPages({ theme: themes.night })],
    ["in a pale theme", {}, colorfulPages({ theme: themes.pale })],
  ] as const)(
    "are accessible %s",
    async (_, options, pages) => {
      const violations = await visit(options, async (page) => {
        const found: string[] = [];
        for (const hosted of pages) {
          await page.goto(server.put(hosted));
          await page.evaluate(axe.source);
          found.push(...(await page.evaluate<string[]>(axeRun)));
        }
        return found;
      });
      expect(violations).toEqual([]);
    },
    120_000,
  );

  test("contact only the host of their theme's images and their own host for fonts, and keep to their own policy", async () => {
    const { requested, complaints, shown } = await visit({}, async (page) => {
      const requested = new Set<string>();
      const complaints: string[] = [];
      page.on("request", (request) => requested.add(request.url()));
      page.on("console", (line) => {
        // Browsers report a status of 4xx as an error, too.
        if (!line.text().startsWith("Failed to load resource")) complaints.push(line.text());
      });
      const shown = everyPage().map((hosted) => server.put(hosted));
      shown.push(server.put(renderStep(newView(steps.multiLink, { theme: themes.sunset, media: images }))));
      for (const url of shown) await page.goto(url);
      return { requested: [...requested], complaints, shown };
    });
    expect(complaints).toEqual([]);
    const fonts = `${server.origin}${fontsPath}`;
    const asked = requested.filter((url) => !url.startsWith("data:") && !url.startsWith(fonts));
    const files = `${server.origin}${filesPath}`;
    expect(new Set(asked.filter((url) => !url.startsWith(files)))).toEqual(new Set(shown));
    expect(asked.filter((url) => url.startsWith(files)).map((url) => url.slice(files.length))).toEqual([
      expect.stringContaining(`${images.cover?.folder}tall-`),
      expect.stringContaining(`${images.badge?.folder}square-`),
    ]);
  });

  test("fit phones of 360 pixels, with targets of at least 44 pixels, whatever the texts", async () => {
    const long = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(6).slice(0, 255);
    const misfits = await visit({ viewport: { width: 360, height: 640 } }, async (page) => {
      const found: string[] = [];
      const wordy = textualViews.map((view) => renderStep(poison(view, long)));
      for (const hosted of [...everyPage(), ...everyPage({ theme: themes.pale }), ...wordy]) {
        await page.goto(server.put(hosted));
        found.push(...(await page.evaluate<string[]>(misfitsOfPage)));
      }
      return found;
    });
    expect(misfits).toEqual([]);
  });

  test("read from right to left in such languages, with content and signs on that side", async () => {
    await visit({}, async (page) => {
      await page.goto(server.put(renderStep(refusedForm({ language: "he" }))));
      const right = async (selector: string) => {
        const box = await page.locator(selector).first().boundingBox();
        return (box?.x ?? 0) + (box?.width ?? 0);
      };
      expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
      expect(await page.locator("html").getAttribute("lang")).toBe("he");
      const edge = await right("#f0");
      expect(await right(".alert")).toBeCloseTo(edge, 0);
      expect(await right(".choice")).toBeCloseTo(edge, 0);
      const radio = await right(".choice input");
      expect(edge - radio).toBeLessThan(24);
    });
  });

  test("take answers by keyboard alone and without scripts", async () => {
    server.posted.length = 0;
    server.answerTo = `${server.origin}/next`;
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(server.put(renderStep(newView(steps.form))));
      const { keyboard } = page;
      // The parts of a date are tab stops, and so is every box; no other stop lies between two questions.
      const tabTo = async (control: Locator) => {
        for (let presses = 0; presses < 4; presses++) {
          await keyboard.press("Tab");
          if (await control.evaluate((element) => element.matches(":focus"))) return;
        }
        expect.fail(`the tab key does not lead to ${control}`);
      };
      await tabTo(page.getByLabel("First name"));
      await keyboard.type("Ada");
      await tabTo(page.getByLabel("E-mail"));
      await keyboard.type("ada@engines.example");
      await tabTo(page.getByLabel("Phone"));
      await tabTo(page.getByLabel("Inside"));
      await keyboard.press("ArrowDown");
      await tabTo(page.getByLabel("Vegetarian"));
      await keyboard.press("Space");
      await tabTo(page.getByLabel("Occasion"));
      await keyboard.press("ArrowDown");
      await tabTo(page.getByLabel("Guests"));
      await keyboard.press("ArrowUp");
      await tabTo(page.getByLabel("Day"));
      await keyboard.type("08012026");
      await tabTo(page.getByLabel("4 of 5"));
      await keyboard.press("ArrowRight");
      await tabTo(page.getByLabel("Anything else?"));
      await keyboard.type("By the window");
      await tabTo(page.getByRole("button", { name: "Submit" }));
      await keyboard.press("Enter");
      await page.waitForURL(`${server.origin}/next`);
    });
    expect(server.posted).toHaveLength(1);
    expect([...(server.posted[0]?.fields ?? [])]).toEqual([
      ["field-id 0", "Ada"],
      ["field-id 1", "ada@engines.example"],
      ["field-id 2", ""],
      ["field-id 3", "out"],
      ["field-id 4", "vegetarian"],
      ["field-id 4", "vegan"],
      ["field-id 5", "birthday"],
      ["field-id 6", "3"],
      ["field-id 7", "2026-08-01"],
      ["field-id 8", "5"],
      ["field-id 9", "By the window"],
    ]);
  });

  test("ask for required answers before they send anything, and for none when the form is skipped", async () => {
    server.posted.length = 0;
    server.answerTo = `${server.origin}/next`;
    await visit({}, async (page) => {
      await page.goto(server.put(renderStep(newView(steps.form))));
      await page.getByRole("button", { name: "Submit" }).click();
      expect(await page.evaluate("document.activeElement.id")).toBe("f0");
      expect(server.posted).toEqual([]);
      await page.getByRole("button", { name: "Skip for now" }).click();
      await page.waitForURL(`${server.origin}/next`);
    });
    expect(server.posted[0]?.fields.get("skip")).toBe("1");
  });

  test("focus the first wrong answer, which says why it is wrong", async () => {
    await visit({}, async (page) => {
      await page.goto(server.put(renderStep(refusedForm())));
      const first = page.getByLabel("First name");
      expect(await page.evaluate("document.activeElement.id")).toBe(await first.getAttribute("id"));
      expect(await first.getAttribute("aria-invalid")).toBe("true");
      const reason = await first.getAttribute("aria-describedby");
      expect(await page.locator(`#${reason}`).textContent()).toBe("Please fill this in.");
      expect(await page.getByRole("alert").textContent()).toBe("Please check the marked answers.");
    });
  });

  test("lead to other hosts after an answer, through any number of redirects", async () => {
    const elsewhere = await servePages();
    server.answerTo = `${elsewhere.origin.replace("127.0.0.1", "localhost")}/shop`;
    try {
      await visit({}, async (page) => {
        await page.goto(server.put(renderStep(newView(steps.multiLink))));
        await page.getByRole("button", { name: "Menu" }).click();
        await page.waitForURL(server.answerTo);
      });
    } finally {
      elsewhere.close();
    }
    expect(server.posted.at(-1)?.fields.get("button")).toBe("button-0");
  });

  test("continue by themselves when their time is over, or by a link where browsers do not", async () => {
    const action = "/4BnH-R19p/s/1?lbid=x";
    const onward = `${server.origin}${action}&timer=1`;
    const pageFor = (timerSeconds: number) => {
      const payload = { ...steps.timer.payload, timerSeconds };
      return renderStep(newView({ action: "MESSAGE_PAGE", payload }, { action }));
    };
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(server.put(pageFor(1)));
      await page.waitForURL(onward);
      const link = page.getByRole("link", { name: "Continue now", includeHidden: true });
      await page.goto(server.put({ ...pageFor(300), headers: [] }));
      expect(await link.isVisible()).toBe(false);
      await page.goto(server.put({ ...pageFor(1), headers: [] }));
      await link.click();
      await page.waitForURL(onward);
    });
  });
});

/** A page with many frames, so that many pages open at once. */
function frameset(urls: readonly string[]): HostedPage {
  const frames = urls.map((url) => `<iframe width="9" height="9" src="${url}"></iframe>`).join("");
  return { status: 200, headers: [], body: Buffer.from(`<!doctype html>${frames}`) };
}

/** The elements and attributes of each framed page, without their contents except for the scheme of addresses. */
const skeletons = `[...document.querySelectorAll("iframe")].map(({ contentDocument }) =>
  [...contentDocument.querySelectorAll("*")].map((element) => {
    const address = element.getAttribute("href") ?? element.getAttribute("src") ?? "";
    return [element.tagName, ...element.getAttributeNames().sort(), /^[a-z]+:/i.exec(address)?.[0]].join(" ");
  }).join("; "))`;

const axeRun = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => [document.title, id, target, failureSummary].join(" · "))))`;

/** The controls that are too small to press, and the pages that are wider than the screen. */
const misfitsOfPage = `(() => {
  const small = [...document.querySelectorAll("button, a, input, select, textarea")]
    .map((control) => control.closest("label") ?? control)
    .filter((target) => {
      const { width, height } = target.getBoundingClientRect();
      return width < 44 || height < 44;
    });
  const { scrollWidth, clientWidth } = document.documentElement;
  return [
    ...small.map((target) => document.title + " · too small: " + target.outerHTML),
    ...(scrollWidth > clientWidth ? [document.title + " · wider than the screen"] : []),
  ];
})()`;
