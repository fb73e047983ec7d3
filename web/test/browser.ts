// browser.ts -- a browser for tests: pages whose console must stay clean, and where pictures of them go.

import assert from "node:assert/strict";
import {mkdirSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {
    chromium,
    type Browser,
    type BrowserContextOptions,
    type Download,
    type Locator,
    type Page,
} from "playwright-core";

export const OUT = dirname(fileURLToPath(import.meta.url)); // where the bundled test lies: <build>/web
const SHOTS = join(OUT, "shots");
mkdirSync(SHOTS, {recursive: true});

let browser: Browser | undefined;
const noise: string[] = [];

export async function openBrowser(): Promise<void> {
    browser = await chromium.launch({
        executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
        // The sandbox of a browser that root started does not come up.
        args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    });
}

export async function closeBrowser(): Promise<void> {
    await browser?.close();
}

// A page of its own; everything it complains about is kept, and `quiet` wants none of it.
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    assert.ok(browser);
    const context = await browser.newContext({
        viewport: {width: 1200, height: 900},
        acceptDownloads: true,
        reducedMotion: "reduce", // nothing is still on its way when it is looked for
        ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30000); // a machine may be busy with other tests
    page.on("console", (m) => {
        if (m.type() === "error" || m.type() === "warning")
            noise.push(`${m.type()}: ${m.text()} (${page.url()})`);
    });
    page.on("pageerror", (e) => noise.push(`exception: ${e.message} (${page.url()})`));
    page.on("requestfailed", (r) => noise.push(`failed: ${r.url()}`));
    return page;
}

export async function ready(page: Page): Promise<void> {
    await page.waitForSelector("html[data-ready]");
}

export function quiet(): void {
    assert.deepEqual(noise.splice(0), []);
}

// What the browser says when a test makes the server refuse something.
export function expectNoise(pattern: RegExp): void {
    const heard = noise.splice(0);
    assert.ok(heard.length > 0 && heard.every((n) => pattern.test(n)), JSON.stringify(heard));
}

export async function shot(what: Page | Locator, name: string): Promise<void> {
    const path = join(SHOTS, `${name}.png`);
    if ("goto" in what) await what.screenshot({path, fullPage: true});
    else await what.screenshot({path});
}

export async function textOf(download: Download): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of await download.createReadStream()) parts.push(part as Buffer);
    return Buffer.concat(parts).toString("utf8");
}

export async function save(page: Page, button: Locator): Promise<{name: string; text: string}> {
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    return {name: download.suggestedFilename(), text: await textOf(download)};
}
