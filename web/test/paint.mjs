// node web/test/paint.mjs FILE.html... -- how long pages take: until something is seen, and until all is drawn.
//
// Medians of several visits with an empty cache each, in milliseconds since the visit began.
import {pathToFileURL} from "node:url";
import {chromium} from "playwright-core";

const VISITS = 7;
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
for (const file of process.argv.slice(2)) {
    const seen = [];
    const drawn = [];
    for (let i = 0; i < VISITS; i++) {
        const context = await browser.newContext({viewport: {width: 1200, height: 900}});
        const page = await context.newPage();
        await page.goto(/^https?:/.test(file) ? file : pathToFileURL(file).href);
        await page.waitForSelector("html[data-ready]", {state: "attached"});
        drawn.push(await page.evaluate(() => performance.now()));
        await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
        seen.push(
            await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime),
        );
        await context.close();
    }
    console.log(
        `${file}: first paint ${Math.round(median(seen))} ms, all figures ${Math.round(median(drawn))} ms`,
    );
}
await browser.close();
