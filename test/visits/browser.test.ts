import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.ts";
import { drained } from "../support/drained.ts";
import { restApi } from "../support/rest-api.ts";
import { startService } from "../support/start-service.ts";
import { type MadeWorkflow, makeWorkflow } from "../support/workflows.ts";

const service = await startService();
const api = restApi(service.baseUrl, service.credentials.accessToken);
afterAll(async () => {
  shop.close();
  shop.closeAllConnections();
  await service.stop();
});

/** The server of the destination: a browser cannot intercept a redirect, so it needs a real target. */
const shop = createServer((_, res) => res.end("Offer"));
await new Promise<void>((resolve) => shop.listen(0, "127.0.0.1", resolve));
const shopHost = `localhost:${(shop.address() as AddressInfo).port}`; // a TCP server's address is an AddressInfo
const destination = `http://${shopHost}/offer`;

/** Password, form, country, multi-link, redirect. */
function makeJourney(words: Words): Promise<MadeWorkflow> {
  return makeWorkflow(
    api,
    "password",
    {
      shop: { action: "CLIENT_REDIRECT", payload: { clientRedirect: { destination } } },
      choice: {
        action: "MULTI_LINK",
        payload: {
          multiLink: {
            title: words.choice,
            buttons: [
              { id: "shop", label: words.shop },
              { id: "news", label: words.news },
            ],
          },
        },
        next: { shop: "shop" },
      },
      country: {
        action: "COUNTRY_CONDITION",
        payload: { countryCondition: { countries: [{ countryCode: "DE" }] } },
        next: { else: "choice" },
      },
      form: {
        action: "FORM_SUBMIT",
        payload: {
          form: {
            formTitle: words.form,
            formFields: [
              {
                id: "mail",
                key: "$email",
                label: words.email,
                type: "FORM_FIELD_TYPE_EMAIL",
                required: true,
              },
              { id: "stars", key: "stars", label: words.stars, type: "FORM_FIELD_TYPE_RATING" },
              {
                id: "plan",
                key: "plan",
                label: words.plan,
                type: "FORM_FIELD_TYPE_DROPDOWN",
                options: [
                  { label: "Basic", value: "basic" },
                  { label: "Pro", value: "pro" },
                ],
              },
            ],
          },
        },
        next: "country",
      },
      password: {
        action: "PASSWORD_VERIFY",
        payload: { password: { title: words.password, password: "sesame" } },
        next: "form",
      },
    },
    { purpose: "" },
  );
}

const english = {
  password: "Members only",
  form: "Tell us about you",
  email: "E-mail",
  stars: "How do you like it?",
  plan: "Your plan",
  choice: "Where to?",
  shop: "To the shop",
  news: "To the news",
};
type Words = typeof english;
const arabic: Words = {
  password: "للأعضاء فقط",
  form: "حدثنا عن نفسك",
  email: "البريد الإلكتروني",
  stars: "ما رأيك؟",
  plan: "خطتك",
  choice: "إلى أين؟",
  shop: "إلى المتجر",
  news: "إلى الأخبار",
};

// A headless browser that says so is taken for a program, and shown no form.
const userAgent =
  "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
const phone: BrowserContextOptions = {
  userAgent,
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
};

interface Way {
  readonly name: string;
  readonly options: BrowserContextOptions;
  readonly words: Words;
  /** Answers with tab and keys instead of touch. */
  readonly isKeyboard?: boolean;
}

const ways: readonly Way[] = [
  { name: "by touch", options: phone, words: english },
  { name: "with script switched off", options: { ...phone, javaScriptEnabled: false }, words: english },
  {
    name: "with the keyboard only",
    options: { ...phone, hasTouch: false },
    words: english,
    isKeyboard: true,
  },
  { name: "in Arabic", options: { ...phone, locale: "ar-EG" }, words: arabic },
];

describe.skipIf(!hasBrowser)("in a browser of a phone's size, a visitor", () => {
  test.each(ways)(
    "goes from scan to identified visitor $name",
    async ({ name, options, words, isKeyboard = false }) => {
      const link = await makeJourney(words);
      const browser = await openBrowser(options);
      onTestFinished(() => browser.close());
      const asked: string[] = [];
      browser.on("request", (request) => asked.push(new URL(request.url()).host));
      const page = await browser.newPage();
      const look = (what: string) => screenshot(page, `${name} ${what}`);
      const hand = isKeyboard ? keyboard(page) : touch(page);

      await page.goto(`http://localhost:${service.port}/${link.shortlink}?qr&utm_source=poster`);
      await page.getByRole("heading", { name: words.password }).waitFor();
      expect(await page.locator("html").getAttribute("dir")).toBe(words === arabic ? "rtl" : "ltr");
      await look("1 password");
      await hand.fill('input[name="password"]', "guess");
      await hand.press("form button");
      await page.locator('[aria-invalid="true"]').waitFor();
      await look("2 wrong password");
      await hand.fill('input[name="password"]', "sesame");
      await hand.press("form button");

      await page.getByRole("heading", { name: words.form }).waitFor();
      await look("3 form");
      // Fields are as wide as the screen allows.
      const field = await page.locator('input[name="field-mail"]').boundingBox();
      expect(field?.width).toBeGreaterThan(330);
      const email = `${link.shortlink.toLowerCase()}@example.com`;
      await hand.fill('input[name="field-mail"]', email);
      await hand.choose('input[name="field-stars"]', "4");
      await hand.choose('select[name="field-plan"]', "pro");
      await look("4 filled form");
      await hand.press("form button:not([name=skip])");

      await page.getByRole("heading", { name: words.choice }).waitFor();
      await look("5 choice");
      await page.reload();
      await hand.press(`button[value="shop"]`);
      await page.waitForURL(`${destination}?utm_source=poster`);

      const event = await eventOf(link);
      expect(event).toMatchObject({
        action: "ACTION_SCAN",
        destination: `${destination}?utm_source=poster`,
        journey: { stepsReached: 5, stepsTotal: 5, completed: true },
        visitor: { email },
      });
      const actions = event.traces.map(({ stepAction }) => stepAction.replace("EVENT_ACTION_", ""));
      expect(actions).toEqual([
        "LINK_VISIT",
        "PASSWORD_VERIFY",
        "FORM_SUBMIT",
        "COUNTRY_CONDITION",
        "MULTI_LINK",
        "CLIENT_REDIRECT",
      ]);
      expect(await api.call("GET", `/v1/visitors/${event.visitorId}`)).toMatchObject({
        email,
        attributes: [
          { key: "plan", value: "pro", type: "VISITOR_ATTRIBUTE_TYPE_ENUM" },
          { key: "stars", value: "4", type: "VISITOR_ATTRIBUTE_TYPE_NUMBER", numberValue: 4 },
        ],
      });
      expect(new Set(asked)).toEqual(new Set([`localhost:${service.port}`, shopHost]));
    },
    120_000,
  );

  test("is told apart by what only the browser knows, and by nothing where scripts are off", async () => {
    const { linkSettingId } = await api.call<{ linkSettingId: string }>("GET", "/v1/workspace");
    const setting = `/v1/settings/link-setting/${linkSettingId}`;
    await api.call("PUT", setting, { dataCollection: "DATA_COLLECTION_ADVANCED" });
    const payload = {
      messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    };
    const link = await makeWorkflow(api, "page", {
      page: { action: "MESSAGE_PAGE", payload, next: "redirect" },
    });
    const address = `http://localhost:${service.port}/${link.shortlink}`;
    const complaints: string[] = [];
    const visit = async (options: BrowserContextOptions, locale: string) => {
      const browser = await openBrowser({ ...options, locale });
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      page.on("console", (line) => complaints.push(line.text()));
      const reported = page.waitForResponse((response) => response.url().includes("/_p/device"));
      await page.goto(address);
      if (options.javaScriptEnabled === false) {
        reported.catch(() => {});
        expect(await page.locator("h1").textContent()).toBe("Hello");
      } else expect((await reported).status()).toBe(204);
    };
    await visit({ ...phone, javaScriptEnabled: false }, "de-DE");
    await visit(phone, "en-GB");
    await drained(service);
    const events = await vi.waitFor(async () => {
      const { json } = await api.call<{ json: { events: { device: Record<string, unknown> }[] } }>(
        "GET",
        `/v1/events?linkId=${link.linkId}&include=device`,
      );
      expect(json.events).toHaveLength(2);
      return json.events;
    }, 30_000);
    expect(
      events.map(({ device }) => [device.browserLanguage, device.screenWidth, device.touchScreen]),
    ).toEqual(
      expect.arrayContaining([
        ["en-GB", 390, true],
        ["de-DE", 0, false],
      ]),
    );
    expect(complaints).toEqual([]);
  });
});

interface Hand {
  fill(selector: string, text: string): Promise<void>;
  choose(selector: string, value: string): Promise<void>;
  press(selector: string): Promise<void>;
}

function touch(page: Page): Hand {
  return {
    fill: (selector, text) => page.locator(selector).fill(text),
    async choose(selector, value) {
      if (selector.startsWith("select")) await page.locator(selector).selectOption(value);
      else await page.locator(`${selector}[value="${value}"]`).check({ force: true });
    },
    press: (selector) => page.locator(selector).first().click(),
  };
}

/** Tabs to an element, like a person without a pointer. */
function keyboard(page: Page): Hand {
  async function tabTo(selector: string): Promise<void> {
    for (let tabs = 0; tabs < 30; tabs++) {
      // A newly opened page may have focused the element already.
      if (
        await page.evaluate<boolean>(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`)
      )
        return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`no tab leads to ${selector}`);
  }
  return {
    async fill(selector, text) {
      await tabTo(selector);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    },
    async choose(selector, value) {
      await tabTo(selector);
      const current = selector.startsWith("select") ? selector : `${selector}:checked`;
      const chosen = () =>
        page.evaluate<string | undefined>(`document.querySelector(${JSON.stringify(current)})?.value`);
      if (!selector.startsWith("select")) await page.keyboard.press("Space");
      for (let keys = 0; keys < 10 && (await chosen()) !== value; keys++)
        await page.keyboard.press("ArrowDown");
      expect(await chosen()).toBe(value);
    },
    async press(selector) {
      await tabTo(selector);
      await page.keyboard.press("Enter");
    },
  };
}

/** Saves pictures to look at, when the environment names a folder for them. */
async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined)
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}

interface EventWithAll {
  readonly action: string;
  readonly visitorId: string;
  readonly traces: readonly { readonly stepAction: string }[];
}

async function eventOf({ linkId }: MadeWorkflow): Promise<EventWithAll> {
  await drained(service);
  return vi.waitFor(
    async () => {
      const path = `/v1/events?linkId=${linkId}&include=journey,traces,visitor`;
      const { json } = await api.call<{ json: { events: EventWithAll[] } }>("GET", path);
      const [event] = json.events;
      if (event === undefined || json.events.length !== 1) throw new Error(`${json.events.length} events`);
      return event;
    },
    { timeout: 20_000, interval: 50 },
  );
}
