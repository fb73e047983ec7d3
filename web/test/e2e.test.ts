// The page in a real browser: first with made-up figures of every kind, then with what weir makes.

import assert from "node:assert/strict";
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {pathToFileURL} from "node:url";
import type {Page} from "playwright-core";
import {closeBrowser, newPage, openBrowser, OUT, quiet, ready, save, shot} from "./browser";
import {everything, machine} from "./fixture";
import "./report.e2e";
import "./viewer.e2e";

const DIST = join(OUT, "dist");
const FIGURES = everything.sections.flatMap((s) => s.figures ?? []);

// A page as `weir report` writes it, with a document of every kind of figure.
function fixturePage(): string {
    const js = readFileSync(join(DIST, "weir_js.js"), "utf8");
    const css = readFileSync(join(DIST, "weir_css.css"), "utf8");
    const doc = JSON.stringify(everything).replace(/</g, "\\u003c");
    const path = join(OUT, "fixture.html");
    writeFileSync(
        path,
        `<!doctype html><html lang="en" data-weir="report"><head><meta charset="utf-8"><title>t</title><style>${css}</style></head>` +
            `<body><main id="weir-static">static</main><script type="application/json" id="weir-report">${doc}</script><script>${js}</script></body></html>`,
    );
    return pathToFileURL(path).href;
}

let fixture: Page;

before(async () => {
    await openBrowser();
    fixture = await newPage();
    await fixture.goto(fixturePage());
    await ready(fixture);
});
after(closeBrowser);

test("the code takes the place of the static page and draws every figure", async () => {
    assert.equal(await fixture.locator("#weir-static").count(), 0);
    for (const fig of FIGURES) {
        const svg = fixture.locator(`#${fig.id} .stage > svg`);
        assert.equal(await svg.count(), 1, fig.id);
        assert.match((await svg.getAttribute("aria-label")) ?? "", new RegExp(fig.title));
        assert.equal(await fixture.locator(`#${fig.id} .says`).textContent(), fig.desc);
    }
    await shot(fixture, "fixture-light");
    quiet();
});

test("hovering over a figure reads a point out", async () => {
    for (const fig of FIGURES) {
        const svg = fixture.locator(`#${fig.id} .stage > svg`);
        const box = await svg.boundingBox();
        assert.ok(box);
        let said = "";
        for (let i = 1; i < 12 && !said; i++) {
            await svg.hover({
                position: {
                    x: (box.width * i) / 12,
                    y: Math.min(box.height * (0.2 + 0.05 * i), box.height - 2),
                },
            });
            said = (await fixture.locator(`#${fig.id} .readout`).textContent()) ?? "";
        }
        assert.ok(said.length > 3, `${fig.id} says nothing`);
        assert.equal(await fixture.locator(`#${fig.id} .tip`).textContent(), said);
        await fixture.mouse.move(0, 0);
        assert.equal(await fixture.locator(`#${fig.id} .readout`).textContent(), "");
    }
    quiet();
});

test("the keyboard reaches every figure and walks its points", async () => {
    for (const fig of FIGURES) {
        const svg = fixture.locator(`#${fig.id} .stage > svg`);
        await svg.focus();
        const said: string[] = [];
        for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "End"]) {
            await fixture.keyboard.press(key);
            said.push((await fixture.locator(`#${fig.id} .readout`).textContent()) ?? "");
        }
        assert.ok(
            said.every((s) => s.length > 3) && new Set(said).size >= 2,
            `${fig.id}: ${said.join(" | ")}`,
        );
        assert.equal(await fixture.locator(`#${fig.id} .cursor`).count(), 1);
        await fixture.keyboard.press("Escape");
        assert.equal(await fixture.locator(`#${fig.id} .cursor`).count(), 0);
    }
    assert.equal(await fixture.locator("#sweep-latency .readout").getAttribute("aria-live"), "polite");
    quiet();
});

test("a legend hides and shows, for the keyboard as well", async () => {
    const button = fixture.locator("#sweep-latency .legend button", {hasText: "valiant"});
    const lines = fixture.locator("#sweep-latency .s1 .line");
    const before = await lines.count();
    await button.focus();
    await fixture.keyboard.press("Enter");
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.ok((await lines.count()) < before);
    await button.click();
    assert.equal(await lines.count(), before);
    quiet();
});

test("axes become linear and logarithmic", async () => {
    const ticks = () => fixture.locator("#sweep-latency .stage .dim").allTextContents();
    const log = await ticks();
    await fixture.locator("#sweep-latency").getByLabel("log y").uncheck();
    assert.notDeepEqual(await ticks(), log);
    await fixture.locator("#sweep-latency").getByLabel("log y").check();
    assert.deepEqual(await ticks(), log);
    quiet();
});

test("the slider goes through time with the arrow keys and tells the slice", async () => {
    const slider = fixture.locator("#machine input[type=range]");
    const colours = () =>
        fixture.locator("#machine .flow").evaluateAll((all) =>
            all
                .map((e) => e.getAttribute("class"))
                .sort()
                .join(),
        );
    await slider.focus();
    await fixture.keyboard.press("ArrowRight");
    assert.match(
        (await slider.getAttribute("aria-valuetext")) ?? "",
        /^slice 1 of 12: 0\sns to 500\s\u00b5s$/,
    );
    const first = await colours();
    await fixture.keyboard.press("ArrowRight");
    assert.notEqual(await colours(), first);
    const fig = machine();
    const link = fig.kind === "machine" ? fig.links.find((l) => l.a === 0 && l.b === 0) : undefined;
    await fixture.locator("#machine .stage > svg").focus();
    await fixture.keyboard.press("ArrowRight");
    const said = (await fixture.locator("#machine .readout").textContent()) ?? "";
    assert.ok(said.includes(`${Number(((link?.load[1] ?? 0) * 100).toPrecision(4))}`), said);
    await fixture.locator("#machine select").selectOption("sat");
    assert.match((await fixture.locator("#machine .stage").textContent()) ?? "", /time saturated/);
    await slider.evaluate((e: HTMLInputElement) => {
        e.value = "0";
        e.dispatchEvent(new Event("input"));
    });
    quiet();
});

test("data and pictures are saved", async () => {
    const csv = await save(fixture, fixture.locator("#sweep-latency .save-csv"));
    assert.equal(csv.name, "sweep-latency.csv");
    assert.match(csv.text, /^routing,load \(%\),mean \(ns\)\r\nminimal,5,900.125\r\n/);
    const made = await save(fixture, fixture.locator("#study-latency .save-csv"));
    assert.match(
        made.text,
        /^group,name,n,min,q1,median,q3,max,mean\r\nrandom,baseline,5000,500,800,1000,1400,2200,1100/,
    );
    for (const fig of FIGURES) {
        const svg = await save(fixture, fixture.locator(`#${fig.id} .save-svg`));
        assert.equal(svg.name, `${fig.id}.svg`);
        const problem = await fixture.evaluate((text) => {
            const doc = new DOMParser().parseFromString(text, "image/svg+xml");
            return (
                doc.querySelector("parsererror")?.textContent ??
                (doc.documentElement.tagName === "svg" ? "" : "no svg")
            );
        }, svg.text);
        assert.equal(problem, "", fig.id);
    }
    quiet();
});

test("tables are sorted by a click, missing values last", async () => {
    const cells = () => fixture.locator("#sweep-table tbody tr td:last-child").allTextContents();
    const head = fixture.locator("#sweep-table thead button", {hasText: "mean"});
    await head.click();
    await head.click();
    assert.deepEqual(
        await fixture.locator("#sweep-table thead th").nth(2).getAttribute("aria-sort"),
        "descending",
    );
    assert.equal((await cells()).length, 3);
    await head.click();
    assert.deepEqual(await cells(), ["900.125", "1500", "\u2013"]);
    quiet();
});

test("every control has a name and every picture a role", async () => {
    const nameless = await fixture.evaluate(() =>
        [...document.querySelectorAll("button, input, select, a, svg[tabindex]")]
            .filter((e) => {
                const own = e.getAttribute("aria-label") || e.textContent?.trim();
                const label = (e as HTMLInputElement).labels?.[0]?.textContent?.trim();
                return !own && !label;
            })
            .map((e) => e.outerHTML.slice(0, 100)),
    );
    assert.deepEqual(nameless, []);
    const ids = await fixture.evaluate(() => [...document.querySelectorAll("[id]")].map((e) => e.id));
    assert.equal(new Set(ids).size, ids.length, "ids are unique");
    const broken = await fixture.evaluate(() =>
        [...document.querySelectorAll("[aria-labelledby], [aria-describedby]")]
            .flatMap((e) =>
                `${e.getAttribute("aria-labelledby") ?? ""} ${e.getAttribute("aria-describedby") ?? ""}`.split(
                    /\s+/,
                ),
            )
            .filter((id) => id && !document.getElementById(id)),
    );
    assert.deepEqual(broken, []);
});

// Contrast of two colours after WCAG 2.
function contrast(a: string, b: string): number {
    const light = (c: string) => {
        const [r = 0, g = 0, bl = 0] = (c.match(/[\d.]+/g) ?? []).map((v) => {
            const s = Number(v) / 255;
            return s <= 0.03928 ? s / 12.92 : Math.pow((s + 0.055) / 1.055, 2.4);
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * bl + 0.05;
    };
    const [p, q] = [light(a), light(b)];
    return Math.max(p, q) / Math.min(p, q);
}

test("text and lines are seen on light and on dark ground, and paper is light", async () => {
    const page = await newPage({colorScheme: "dark"});
    await page.goto(fixturePage());
    await ready(page);
    const colours = () =>
        page.evaluate(() => {
            const of = (sel: string, what: "color" | "fill" | "stroke" | "backgroundColor") => {
                const e = document.querySelector(sel);
                return e ? getComputedStyle(e)[what] : "";
            };
            const lines = [0, 1, 2, 3].map((k) => of(`.wc .s${k} .line, .wc .s${k} .mark`, "stroke"));
            return {
                ground: of("body", "backgroundColor"),
                text: of(".lead", "color"),
                dim: of(".wc .dim", "fill"),
                lines,
            };
        });
    const grounds = new Set<string>();
    for (const scheme of ["dark", "light"] as const) {
        await page.emulateMedia({colorScheme: scheme});
        await page.locator(`html[data-theme=${scheme}]`).waitFor(); // the page is told a moment later
        const c = await colours();
        grounds.add(c.ground);
        assert.ok(contrast(c.text, c.ground) >= 7, `${c.text} on ${c.ground}`);
        assert.ok(contrast(c.dim, c.ground) >= 4.5, `${c.dim} on ${c.ground}`);
        for (const line of c.lines) assert.ok(contrast(line, c.ground) >= 3, `${line} on ${c.ground}`);
    }
    assert.equal(grounds.size, 2);
    await page.emulateMedia({colorScheme: "dark"});
    await shot(page, "fixture-dark");
    await page.emulateMedia({colorScheme: "dark", media: "print"});
    assert.equal((await colours()).ground, "rgb(255, 255, 255)");
    assert.equal(await page.locator(".tools").first().isVisible(), false);
    await page.pdf({path: join(OUT, "shots", "fixture.pdf"), format: "A4"});
    await page.locator("button.theme").evaluate((b: HTMLButtonElement) => b.click());
    await page.context().close();
    quiet();
});

test("a narrow page needs no sideways scrolling", async () => {
    const page = await newPage({viewport: {width: 390, height: 800}, reducedMotion: "reduce"});
    await page.goto(fixturePage());
    await ready(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.equal(
        await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior),
        "auto",
    );
    await shot(page, "fixture-narrow");
    await page.context().close();
    quiet();
});
