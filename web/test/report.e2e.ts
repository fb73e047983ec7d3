// Reports that weir makes of real run files, opened from a file: address.

import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {before, test} from "node:test";
import {pathToFileURL} from "node:url";
import type {Page} from "playwright-core";
import type {ReportDocument} from "../src/document";
import {newPage, quiet, ready, save, shot} from "./browser";
import {cleanRuns, documentIn, query, runFile, RUNS, weir} from "./weir";

before(cleanRuns);

async function open(name: string, ...runs: string[]): Promise<{page: Page; doc: ReportDocument}> {
    const html = join(RUNS, `${name}.html`);
    weir("report", ...runs, "-o", html);
    const page = await newPage();
    await page.goto(pathToFileURL(html).href);
    await ready(page);
    return {page, doc: documentIn(html)};
}

// Where there are slices of time, goes through some of them.
async function slide(page: Page, id: string): Promise<void> {
    const slider = page.locator(`#${id} input[type=range]`);
    if (!(await slider.count())) return;
    await slider.focus();
    for (const n of [1, 2]) {
        await page.keyboard.press("ArrowRight");
        assert.match((await slider.getAttribute("aria-valuetext")) ?? "", new RegExp(`^slice ${n} of `));
    }
    await page.keyboard.press("Home");
}

// Opens every section, and points at every figure.
async function walk(page: Page, doc: ReportDocument): Promise<void> {
    assert.equal(await page.locator("#weir-static").count(), 0, "the page's code has taken over");
    for (const section of doc.sections) {
        await page.locator(`.contents a[href="#${section.id}"]`).click();
        await page.locator(`#${section.id} > h2`).waitFor();
        for (const fig of section.figures ?? []) {
            const svg = page.locator(`#${fig.id} .stage > svg`);
            await svg.focus();
            await page.keyboard.press("ArrowRight");
            const said = (await page.locator(`#${fig.id} .readout`).textContent()) ?? "";
            assert.ok(said.length > 3, `${fig.id} has nothing to point at`);
            const at = await page.evaluate((id) => {
                const root = document.getElementById(id);
                const [box, spot] = [".stage > svg", ".cursor"].map((q) =>
                    root?.querySelector(q)?.getBoundingClientRect(),
                );
                return box && spot
                    ? {x: spot.x + spot.width / 2 - box.x, y: spot.y + spot.height / 2 - box.y}
                    : null;
            }, fig.id);
            assert.ok(at, fig.id);
            await page.keyboard.press("Escape");
            await svg.hover({position: at});
            await page.locator(`#${fig.id} .tip`).waitFor();
            await slide(page, fig.id);
        }
    }
    const bad = await page.evaluate(
        () =>
            /\b(NaN|undefined|Infinity)\b/.exec(document.getElementById("weir-app")?.textContent ?? "")?.[0],
    );
    assert.equal(bad, undefined);
}

// The number in a cell of a table, found by the words of its row and the name of its column.
async function cellOf(page: Page, table: string, words: string[], column: string): Promise<number> {
    return page.evaluate(
        ([id, texts, name]) => {
            const root = document.getElementById(id as string);
            const heads = [...(root?.querySelectorAll("thead th") ?? [])].map((t) =>
                t.textContent?.replace(/ \(.*/, ""),
            );
            const at = heads.indexOf(name as string);
            const row = [...(root?.querySelectorAll("tbody tr") ?? [])].find((r) =>
                (texts as string[]).every((t, i) => r.children[i]?.textContent === t),
            );
            return Number((row?.children[at] as HTMLElement | undefined)?.dataset["value"] ?? NaN);
        },
        [table, words, column] as const,
    );
}

// As many digits as a table shows.
function near(page: number, truth: number, what: string): void {
    assert.ok(
        Math.abs(page - truth) <= Math.max(Math.abs(truth) * 1e-3, 0.00501),
        `${what}: ${page} on the page, ${truth} by weir query`,
    );
}

test("a report of one run has all its sections, and its numbers are weir query's", async () => {
    const run = runFile("uniform-1056");
    const {page, doc} = await open("uniform", run);
    await walk(page, doc);
    for (const [cls, mean, p99] of query(
        run,
        "SELECT class, mean_ns / 1000, p99_ns / 1000 FROM latency WHERE app = 0",
    )) {
        near(
            await cellOf(page, "latency-table", ["traffic", cls ?? ""], "mean"),
            Number(mean),
            `mean latency of ${cls}`,
        );
        near(await cellOf(page, "latency-table", ["traffic", cls ?? ""], "p99"), Number(p99), `p99 of ${cls}`);
    }
    for (const [cls, n, busy] of query(
        run,
        "SELECT class, count(*), 100 * max(utilization) FROM link_stat GROUP BY class",
    )) {
        near(await cellOf(page, "links-table", [cls ?? ""], "links"), Number(n), `links of ${cls}`);
        near(await cellOf(page, "links-table", [cls ?? ""], "max"), Number(busy), `busiest ${cls} link`);
    }
    assert.equal(await page.locator("#machine-ring input[type=range]").count(), 1);
    const machine = (await save(page, page.locator("#machine-ring .save-csv"))).text
        .split("\r\n")
        .map((l) => l.split(","));
    const [busy] = query(
        run,
        "SELECT value / dt_ns FROM slice WHERE entity = 'links:0>10' AND metric = 'busy_time' AND t_ns = 40000",
    );
    const link = machine.find(([a, b, , slice]) => a === "0" && b === "10" && slice === "8");
    near(Number(link?.[4]), Number(busy?.[0]), "load of the link from group 0 to group 10 in slice 8");
    await shot(page, "report-uniform");
    quiet();
    await page.context().close();
});

test("what a figure reads out and saves is what is in the run file", async () => {
    const run = runFile("uniform-1056");
    const {page} = await open("uniform-figures", run);
    const csv = (await save(page, page.locator("#time-packets-in-flight .save-csv"))).text
        .trim()
        .split("\r\n")
        .slice(1);
    const truth = query(
        run,
        "SELECT t_ns / 1000, value FROM slice WHERE entity = 'machine' AND metric = 'packets_in_flight' ORDER BY t_ns",
    );
    assert.ok(truth.length > 10 && csv.length >= truth.length); // the end of the last slice may follow
    truth.forEach((row, i) => assert.deepEqual(csv[i]?.split(",").slice(1, 3).map(Number), row.map(Number)));
    await page.locator("#time-packets-in-flight .stage > svg").focus();
    await page.keyboard.press("Home");
    const said = (await page.locator("#time-packets-in-flight .readout").textContent()) ?? "";
    assert.ok(
        said.replace(/\s/g, "").endsWith(`packetsinflight${truth[0]?.[1]}`),
        `${said} for ${truth[0]?.[1]}`,
    );
    quiet();
    await page.context().close();
});

test("a report of jobs with storage has all its sections", async () => {
    const {page, doc} = await open("jobs", runFile("two-jobs"));
    await walk(page, doc);
    await shot(page, "report-jobs");
    quiet();
    await page.context().close();
});

test("a job's time line is what the run file says it sent", async () => {
    const run = runFile("hybrid");
    const {page, doc} = await open("hybrid", run);
    await walk(page, doc);
    const csv = (await save(page, page.locator("#time-sent-bytes .save-csv"))).text.split("\r\n").map((l) => l.split(","));
    const unit = doc.sections.flatMap((s) => s.figures ?? []).find((f) => f.id === "time-sent-bytes");
    assert.ok(unit?.kind === "lines" && unit.y.unit === "GB/s");
    const truth = query(
        run,
        "SELECT t_ns / 1e6, value / dt_ns FROM slice WHERE entity = 'app:2' AND metric = 'sent_bytes' ORDER BY t_ns",
    );
    assert.ok(truth.length > 5);
    for (const [t, gbps] of truth) {
        const row = csv.find(([name, x]) => name === "cosmoflow" && Math.abs(Number(x) - Number(t)) < 1e-9);
        assert.ok(Math.abs(Number(row?.[2]) - Number(gbps)) <= 1e-4 * Number(gbps), `${row?.join()} for ${t}, ${gbps}`);
    }
    assert.equal(await page.locator("#machine-ring input[type=range]").count(), 1);
    quiet();
    await page.context().close();
});

test("a report of the I/O stack has all its sections", async () => {
    const run = join(RUNS, "stack.weir");
    weir("stack", "run", "-o", run, "--", "ior", "-a", "MPIIO", "-b", "1m", "-t", "256k");
    const {page, doc} = await open("stack", run);
    assert.ok(doc.sections.some((s) => s.group === "stack"));
    await walk(page, doc);
    await shot(page, "report-stack");
    quiet();
    await page.context().close();
});

test("a report of jobs that share a server has what each got, and what the model says", async () => {
    const table = join(RUNS, "shared.csv");
    const rows = ["run,app,rank,node,t_s,bytes"];
    // One job alone; then the same with another beside it, which begins later.
    const moves = (run: string, app: string, from: number, to: number, bytes: number) => {
        for (let t = from; t < to; t++) rows.push(`${run},${app},0,0,${t},${bytes}`);
    };
    moves("alone", "a", 0, 10, 40e6);
    moves("pair", "a", 0, 5, 40e6);
    moves("pair", "a", 5, 15, 20e6);
    moves("pair", "b", 5, 15, 20e6);
    writeFileSync(table, rows.join("\n") + "\n");
    weir("interfere", "import", table, "-o", join(RUNS, "shared"));
    const {page, doc} = await open("shared", join(RUNS, "shared", "pair.weir"));
    const section = doc.sections.find((s) => s.id === "interference");
    assert.ok(section);
    assert.ok(section.figures?.some((f) => f.id === "interference-predicted"));
    await walk(page, doc);
    for (const [job, ranks] of query(join(RUNS, "shared", "pair.weir"), "SELECT name, ranks FROM app_stat")) {
        const row = page.locator("#interference-jobs tbody tr", {hasText: job as string}).first();
        assert.equal(await row.locator("td").first().textContent(), ranks);
    }
    // Half of the server each while both are there: the model says what was made.
    const told = section.tables?.find((t) => t.id === "interference-predictions");
    assert.deepEqual(
        told?.rows.map((r) => r.slice(2, 4)),
        [
            [15, 15],
            [10, 10],
        ],
    );
    await shot(page, "report-interference");
    await page.emulateMedia({colorScheme: "dark"});
    await page.setViewportSize({width: 420, height: 900});
    await shot(page, "report-interference-narrow");
    quiet();
    await page.context().close();
});

test("a report of probes has the state of the path", async () => {
    const run = join(RUNS, "probe.weir");
    const probes = ["--interval", "10ms", "--count", "30", "--bytes", "4KiB", "-q"];
    weir("state", "probe", RUNS, ...probes, "-o", join(RUNS, "probes.csv"), "--run", run);
    const {page, doc} = await open("probe", run);
    const section = doc.sections.find((s) => s.group === "state");
    assert.ok(section);
    await walk(page, doc);
    await shot(page, "report-state");
    quiet();
    await page.context().close();
});

test("a table of probes becomes a report with states, distributions and a forecast", async () => {
    const table = join(RUNS, "day.csv");
    writeFileSync(table, weir("state", "simulate", "examples/state/titan.json", "--for", "24h"));
    const run = join(RUNS, "day.weir");
    weir("state", "import", table, "-o", run);
    const {page, doc} = await open("day", run);
    await walk(page, doc);
    for (const id of ["density", "path", "latencies", "sojourns", "forecast"])
        assert.equal(await page.locator(`#state-${id}-1`).count(), 1, id);
    const [all] = query(run, "SELECT count(*) FROM slice");
    const cells = await page
        .locator("#state-states-1 tbody tr td:nth-child(2)")
        .evaluateAll((rows) => rows.map((c) => Number((c as HTMLElement).dataset["value"])));
    assert.equal(
        cells.reduce((a, b) => a + b, 0),
        Number(all?.[0]),
    );
    await shot(page, "report-states");
    quiet();
    await page.context().close();
});

test("a report of a measured service has the roof, what was measured and the best division", async () => {
    const run = join(RUNS, "service.weir");
    const short = ["--set", "clients=2", "--set", "samples=1", "--set", "warmup=0", "--set", "window=100ms"];
    weir("roofline", "collect", ...short, "-q", "-o", run);
    const {page, doc} = await open("service", run);
    await walk(page, doc);
    const fig = doc.sections.flatMap((s) => s.figures ?? []).find((f) => f.id === "roofline-rpc");
    assert.ok(fig?.kind === "lines");
    assert.ok(fig.series.some((s) => s.name.startsWith("best of 3 processes")));
    for (const [measured] of query(run, "SELECT value / 1e3 FROM summary WHERE key = 'roofline.point.rpc.1.2'"))
        near(await cellOf(page, "roofline-rpc-points", ["1", "2"], "measured"), Number(measured), "measured RPCs");
    await shot(page, "report-roofline");
    quiet();
    await page.context().close();
});

test("a report of a load sweep has its curves, as weir query has them", async () => {
    const run = join(RUNS, "sweep.weir");
    weir("sweep", "examples/ring.yaml", "--load", "5%:15%:5%", "-r", "minimal", "-o", run);
    const {page, doc} = await open("sweep", run);
    await walk(page, doc);
    const fig = doc.sections.flatMap((s) => s.figures ?? []).find((f) => f.kind === "lines");
    assert.ok(fig?.kind === "lines");
    await page.locator(`#${fig.id} .stage > svg`).focus();
    for (const [mean] of query(run, "SELECT lat_mean_ns FROM sweep ORDER BY load")) {
        await page.keyboard.press("ArrowRight");
        const said = (await page.locator(`#${fig.id} .readout`).textContent()) ?? "";
        const shown = Number(/latency ([\d.]+)/.exec(said)?.[1]);
        assert.ok(Math.abs(shown - Number(mean)) < Number(mean) * 1e-4, `${said} for ${mean}`);
    }
    await shot(page, "report-sweep");
    quiet();
    await page.context().close();
});

test("printed pages are light, and as wide as the paper", async () => {
    const {page} = await open("print", runFile("two-jobs"));
    await page.emulateMedia({media: "print", colorScheme: "dark"});
    await page.setViewportSize({width: 720, height: 1000});
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 740);
    assert.equal(
        await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
        "rgb(255, 255, 255)",
    );
    await shot(page, "report-print");
    quiet();
    await page.context().close();
});

test("without scripts the static page stays", async () => {
    const html = join(RUNS, "static.html");
    weir("report", runFile("ring"), "-o", html);
    const page = await newPage({javaScriptEnabled: false});
    await page.goto(pathToFileURL(html).href);
    assert.equal(await page.locator("#weir-static").isVisible(), true);
    assert.ok((await page.locator("#weir-static svg").count()) > 0);
    await shot(page, "report-static");
    await page.context().close();
    quiet();
});
