// The viewer: `weir serve` over real run files.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {copyFileSync, mkdirSync, writeFileSync} from "node:fs";
import {request} from "node:http";
import {join} from "node:path";
import {after, before, test} from "node:test";
import type {Page} from "playwright-core";
import type {ReportDocument} from "../src/document";
import {expectNoise, newPage, quiet, ready, shot} from "./browser";
import {query, runFile, RUNS, serve, SOURCE, stopAll, WEIR, type Served} from "./weir";

const DIR = join(RUNS, "served");
let served: Served;

before(async () => {
    mkdirSync(DIR, {recursive: true});
    for (const name of ["uniform-1056", "two-jobs", "ring"])
        copyFileSync(runFile(name), join(DIR, `${name}.weir`));
    const loaded = runFile("uniform-1056", "loaded", "--set", "traffic.load=10%");
    copyFileSync(loaded, join(DIR, "loaded.weir"));
    served = await serve(DIR);
});
after(async () => {
    await served.stop();
    stopAll();
});

async function open(hash = "", base = served.url): Promise<Page> {
    const page = await newPage();
    await page.goto(base + hash);
    await ready(page);
    return page;
}

// As it is written, without the browser's tidying up of paths.
function raw(
    path: string,
    headers: Record<string, string> = {},
    method = "GET",
    body = "",
): Promise<{status: number; body: string; headers: Record<string, unknown>}> {
    const {hostname, port, searchParams} = new URL(served.url);
    headers = {Authorization: `Bearer ${searchParams.get("token")}`, ...headers};
    return new Promise((done, failed) => {
        const r = request({hostname, port, path, headers, method}, (answer) => {
            let text = "";
            answer.on("data", (part: Buffer) => (text += part.toString()));
            answer.on("end", () =>
                done({status: answer.statusCode ?? 0, body: text, headers: answer.headers}),
            );
        });
        r.on("error", failed);
        r.end(body);
    });
}

test("the list has every run, filters it, and keeps the filter in the address", async () => {
    const page = await open();
    assert.equal(await page.locator("tr[data-run]").count(), 4);
    await page.getByLabel("Find").fill("two");
    assert.equal(await page.locator("tr[data-run]").count(), 1);
    assert.match(page.url(), /q=two/);
    await page.reload();
    await ready(page);
    assert.equal(await page.locator("tr[data-run]").count(), 1);
    await page.getByLabel("Find").fill("no such run");
    assert.match((await page.locator("tbody").textContent()) ?? "", /clear one/);
    await page.getByLabel("Find").fill("");
    await shot(page, "viewer-runs");
    quiet();
    await page.context().close();
});

test("a run's report opens, and its sections have addresses", async () => {
    const page = await open();
    await page.locator("tr[data-run]", {hasText: "two-jobs"}).locator("a").first().click();
    await page.locator(".section").first().waitFor();
    await ready(page);
    const links = page.locator(".contents a");
    for (let i = 0; i < (await links.count()); i++) {
        const id = (await links.nth(i).getAttribute("data-section")) ?? "";
        await links.nth(i).click();
        assert.match(page.url(), new RegExp(`section=${id}`));
        assert.equal(await page.locator(`#${id}`).count(), 1);
    }
    await page.goBack();
    await page.locator(".section").first().waitFor();
    await shot(page, "viewer-report");
    quiet();
    await page.context().close();
});

test("two runs stand side by side, on the same axes, and a link shows the same again", async () => {
    const page = await open();
    for (const name of ["uniform-1056", "loaded"]) await page.getByLabel(`choose ${name}`).check();
    await page.getByRole("button", {name: "Compare side by side"}).click();
    await page.locator("#a-latency-cdf svg").first().waitFor();
    await ready(page);
    const ticks = (id: string) => page.locator(`#${id} .stage > svg .dim`).allTextContents();
    assert.deepEqual(await ticks("a-latency-cdf"), await ticks("b-latency-cdf"));
    const legend = page.locator("#a-links-busy .legend button").first();
    await legend.click();
    assert.equal(
        await page.locator("#b-links-busy .legend button").first().getAttribute("aria-pressed"),
        "false",
    );
    const one = query(
        join(DIR, "uniform-1056.weir"),
        "SELECT 100 * max(utilization) FROM link_stat WHERE class = 'global'",
    )[0]?.[0];
    const cells = await page
        .locator("#a-links-table tbody tr", {hasText: "global"})
        .locator("td")
        .evaluateAll((all) => all.map((c) => Number((c as HTMLElement).dataset["value"])));
    assert.ok(
        cells.some((v) => Math.abs(v - Number(one)) < 0.006),
        `${one} in ${cells.join()}`,
    );
    await shot(page, "viewer-compare");
    const text = (p: Page) => p.locator("#weir-main").textContent();
    const again = await open("", page.url());
    assert.equal(await text(again), await text(page));
    assert.equal(
        await again.locator("#b-links-busy .legend button").first().getAttribute("aria-pressed"),
        "false",
    );
    quiet();
    await page.context().close();
    await again.context().close();
});

test("what is asked for by hand is the same document", async () => {
    const {status, body} = await raw("/api/report?run=" + encodeURIComponent(await idOf("ring")));
    assert.equal(status, 200);
    const doc = JSON.parse(body) as ReportDocument;
    assert.equal(doc.weir_report, 1);
    assert.ok(body.length < 1_100_000);
});

async function idOf(name: string): Promise<string> {
    const {runs} = JSON.parse((await raw("/api/runs")).body) as {runs: {id: string; name: string}[]};
    return runs.find((r) => r.name.startsWith(name))?.id ?? "";
}

test("nothing outside the directory is given away, however it is asked for", async () => {
    const outside = [
        "../uniform-1056.weir",
        join(RUNS, "uniform-1056.weir"),
        "../../../../../etc/passwd",
        "/etc/passwd",
        "ring.weir/../../ring.weir",
        "ring.weir\0",
        "",
    ];
    const paths = [
        ...outside.map((p) => `/api/report?run=${encodeURIComponent(p)}`),
        ...outside.map((p) => `/api/report?dir=${encodeURIComponent(p)}`),
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/app.js/../../etc/passwd",
        "//etc/passwd",
        "/api/../../etc/passwd",
    ];
    for (const path of paths) {
        const {status, body} = await raw(path);
        assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
        assert.ok(!body.includes("root:"), path);
    }
});

test("the page may run nothing but its own code", async () => {
    const {headers} = await raw("/");
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'/);
    assert.ok(!/unsafe|\*|data:.*script/.test(policy), policy);
    assert.match(String(headers["x-content-type-options"]), /nosniff/);
});

test("studies are not started unless that was allowed", async () => {
    const {status, body} = await raw(
        "/api/study",
        {"Content-Type": "application/json"},
        "POST",
        '{"study":"x","set":{},"name":"y"}',
    );
    assert.equal(status, 403);
    assert.match(body, /--allow-run/);
    const page = await open("#view=study");
    assert.match((await page.locator("#weir-main").textContent()) ?? "", /--allow-run/);
    quiet();
    await page.context().close();
});

test("a run that goes on is shown with its progress, and then as complete", async () => {
    const page = await open();
    const path = join(DIR, "going-on.weir");
    const child = spawn(
        WEIR,
        ["run", "examples/uniform-1056.yaml", "--set", "traffic.measure=30ms", "-o", path],
        {cwd: SOURCE},
    );
    const ended = new Promise<void>((done) => child.on("exit", () => done()));
    const row = page.locator("tr[data-run]", {hasText: "going-on"});
    // The fraction of the simulated time, as its maker knows it.
    await row.locator("progress[value]").waitFor();
    assert.match((await row.locator("td.state").textContent()) ?? "", /running, [\d.]+\u00a0% of simulated time/);
    await shot(page, "viewer-running");
    child.kill("SIGINT");
    await ended;
    await row.locator("td.state", {hasText: "incomplete"}).waitFor();
    quiet();
    await page.context().close();
});

test("what cannot be shown is said, with what to do", async () => {
    const page = await open("#view=report&run=no-such-run.weir");
    assert.ok(((await page.locator(".said").first().textContent()) ?? "").length > 10);
    expectNoise(/404|400/);
    await page.context().close();
});

test("without the right token nothing is shown, with it everything", async () => {
    const secret = "0123456789abcdef0123456789abcdef";
    const file = join(RUNS, "token");
    writeFileSync(file, secret + "\n", {mode: 0o600});
    const guarded = await serve("--token-file", file, DIR);
    const get = (query: string, headers: Record<string, string> = {}) =>
        fetch(`${guarded.base}${query}`, {headers});
    for (const path of ["/", "/api/runs", "/api/progress", "/api/report?run=ring.weir", "/nothing"])
        for (const token of ["", "wrong", secret.slice(1), secret + "0", secret.replace("f", "e")]) {
            const address = path + (path.includes("?") ? "&" : "?") + `token=${token}`;
            assert.equal((await get(address)).status, 403, address);
            assert.equal((await get(path, {Authorization: `Bearer ${token}`})).status, 403, path);
        }
    assert.equal((await get("/api/runs", {Authorization: `Bearer ${secret}`})).status, 200);
    assert.match(guarded.url, /token=0123456789abcdef0123456789abcdef$/);
    const page = await open(`#view=report&run=${encodeURIComponent(await idOf("ring"))}`, guarded.url);
    assert.ok((await page.locator(".section").count()) > 0);
    quiet();
    await page.context().close();
    await guarded.stop();
});

test("an experiment is one row, opens as one report, and lists its runs when asked", async () => {
    const dir = join(RUNS, "experiments", "pairs");
    mkdirSync(dir, {recursive: true});
    for (const name of ["private.1.r1.P", "private.1+1.r1.P", "private.1+1.r1.Q"])
        copyFileSync(join(RUNS, "two-jobs.weir"), join(dir, `${name}.weir`));
    const one = await serve(join(RUNS, "experiments"));
    const page = await open("", one.url);
    const row = page.locator("tr.study");
    assert.match((await row.textContent()) ?? "", /pairs.*experiment.*3 of 3 runs complete/);
    assert.equal(await page.locator("tr[data-run]").count(), 0);
    await row.getByRole("button").click();
    assert.equal(await page.locator("tr[data-run]").count(), 3);
    const text = (await page.locator("tr[data-run]", {hasText: "private.1+1.r1.Q"}).textContent()) ?? "";
    assert.match(text, /mode=private, together=1\+1, job=Q, repetition=1/);
    await row.getByRole("button").click();
    assert.equal(await page.locator("tr[data-run]").count(), 0);
    await page.getByLabel("Find").fill("alone=1");
    assert.equal(await page.locator("tr[data-run]").count(), 1, "a filter looks into it");
    await page.getByLabel("Find").fill("");
    await row.locator("a").click();
    await page.locator(".section").first().waitFor();
    await ready(page);
    quiet();
    await page.context().close();
    await one.stop();
});

test("a study is started from the form, changed, and its runs are seen", async () => {
    const dir = join(RUNS, "studies");
    mkdirSync(dir, {recursive: true});
    const run = join(SOURCE, "examples/two-jobs.yaml");
    const axis = "{key: machine.routing, values: [minimal, valiant]}";
    writeFileSync(join(dir, "tiny.yaml"), `name: tiny\nrun: ${run}\ncross:\n  routing: ${axis}\n`);
    const allowed = await serve("--allow-run", dir);
    const page = await open("#view=study", allowed.url);
    const form = page.locator(".study-form");
    await form.locator("select").selectOption({label: "tiny.yaml"});
    assert.match((await page.locator(".study-text").textContent()) ?? "", /machine.routing/);
    await form.getByLabel("Name of the new study").fill("mine");
    await form.locator(".key").fill("seed");
    await form.locator(".value").fill("7");
    await form.getByRole("button", {name: "Start the study"}).click();
    await form.locator(".said", {hasText: "Started mine"}).waitFor();
    await shot(page, "viewer-study");
    await page.locator(".tabs a", {hasText: "Runs"}).click();
    await page.locator(".study", {hasText: "2 of 2 runs complete"}).waitFor();
    assert.equal(await page.locator("tr[data-run]").count(), 0, "a study is one row");
    await page.getByRole("button", {name: "runs of"}).click();
    const seeds = await page
        .locator("tr[data-run]")
        .evaluateAll((rows) => rows.map((r) => r.children[6]?.textContent));
    assert.deepEqual(seeds, ["7", "7"]);
    await page.locator(".study a").click();
    await page.locator(".section").first().waitFor();
    await ready(page);
    await shot(page, "viewer-study-report");
    quiet();
    await page.context().close();
    await allowed.stop();
});
