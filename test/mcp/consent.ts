import { chromium } from "playwright-core";
import { browserArguments, browserPath } from "../support/browser-program.ts";

/** Lets a program in as a person does: signs in at the address that the program opened, and allows all that it asks for. */
export async function consentAt(
  address: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const browser = await chromium.launch({ executablePath: browserPath(), args: browserArguments });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.locator('input[name="email"]').fill(email);
    await page.locator('input[name="password"]').fill(password);
    await page.locator('form:has(input[name="password"]) button').first().click();
    await page.locator('form:has(input[type="checkbox"]) button').first().click();
    // The program's own page, at its loopback address.
    await page.waitForURL((url) => url.searchParams.has("code"), { waitUntil: "commit" });
  } finally {
    await browser.close();
  }
}
