// Scales, ticks, numbers, CSV, statistics and saved pictures, without a browser.

import assert from "node:assert/strict";
import {test} from "node:test";
import {toCsv} from "../src/csv";
import type {Figure, MatrixFigure} from "../src/document";
import {legendOf, svgFile, swatch} from "../src/draw/file";
import {dataOf, draw} from "../src/draw/kinds";
import {wideMatrix} from "../src/draw/matrix";
import {defaultView, spotAt, spotBeside, type Spot} from "../src/draw/picture";
import {rowsOf} from "../src/draw/sequence";
import {el, toText, type Shape} from "../src/draw/tree";
import {cell, compact, named, number, quantity} from "../src/format";
import {extent, linearTicks, logTicks, nearest, niceStep, scaleFor, thin} from "../src/scale";
import {change, mean, quantile} from "../src/stat";
import {mergeTables, pairUp, shareAxes} from "../src/viewer/pair";
import {passes, progressWords} from "../src/viewer/runs";
import {emptyState, readState, readView, sameDocuments, writeState, writeView} from "../src/viewer/state";
import {keysOf} from "../src/viewer/study";
import {bars, boxes, everything, fan, machine, matrix, sequence, sweep} from "./fixture";

const FIGURES: Figure[] = [sweep, fan, boxes, bars, machine(), matrix, sequence];

test("steps are 1, 2 or 5 times a power of ten and never too many", () => {
    for (const span of [1e-9, 0.3, 1, 7, 12, 99, 1e12])
        for (const most of [2, 5, 8]) {
            const step = niceStep(span, most);
            const lead = Number(step.toExponential().split("e")[0]);
            assert.ok(
                [1, 2, 5].some((l) => Math.abs(lead - l) < 1e-9),
                `${span}/${most}: ${step}`,
            );
            assert.ok(span / step <= most * (1 + 1e-9));
        }
});

test("ticks have no rounding dust", () => {
    assert.deepEqual(linearTicks(0, 0.5, 5), [0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    assert.deepEqual(linearTicks(-20, 20, 4), [-20, -10, 0, 10, 20]);
});

test("logarithmic ticks are powers of ten, and more where there are few", () => {
    assert.deepEqual(logTicks(1, 1e6, 6), [1, 10, 100, 1e3, 1e4, 1e5, 1e6]);
    assert.deepEqual(logTicks(0.001, 0.1, 6), [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]);
    assert.ok(logTicks(1e-12, 1e12, 6).length <= 8);
    assert.ok(logTicks(2.1, 2.4, 6).length >= 2, "less than an octave still has ticks");
});

test("a scale maps its ends to 0 and 1 and back", () => {
    for (const scale of ["linear", "log"] as const) {
        const s = scaleFor({scale, min: 2, max: 2000}, [5], 6);
        assert.ok(Math.abs(s.at(2)) < 1e-12 && Math.abs(s.at(2000) - 1) < 1e-12);
        for (const v of [3, 50, 1234]) assert.ok(Math.abs(s.back(s.at(v)) - v) < 1e-9 * v);
    }
});

test("what has no place on an axis is not a number", () => {
    const s = scaleFor({scale: "log"}, [1, 100], 6);
    for (const v of [0, -3, null, undefined]) assert.ok(Number.isNaN(s.at(v)));
});

test("labels of large values have a unit with the right prefix, and the axis' name has none", () => {
    const s = scaleFor({unit: "us", scale: "log"}, [1, 1e6], 6);
    assert.equal(s.label(60000), "60\u202fms");
    assert.equal(s.label(1e6), "1\u202fs");
    assert.equal(s.unit, "");
    assert.equal(scaleFor({unit: "MB/s"}, [0, 3e5], 6).label(1e5), "100\u202fGB/s");
    assert.equal(scaleFor({unit: "us"}, [0, 60], 6).unit, "us");
    const calls = scaleFor({unit: "calls"}, [0, 3e5], 6);
    assert.equal(calls.label(1e5) + calls.unit, "100\u202fkcalls");
});

test("an axis is linear where nothing is positive, and has a width where all is equal", () => {
    assert.equal(scaleFor({scale: "log"}, [0, -1], 6).log, false);
    for (const v of [0, 5, -5, 1e-30]) {
        const s = scaleFor({}, [v, v], 6, true);
        assert.ok(s.max > s.min && s.at(v) >= -1e-9 && s.at(v) <= 1 + 1e-9, `${v}: ${s.min}..${s.max}`);
        assert.ok(s.ticks.length >= 2);
    }
    const none = scaleFor({}, [null], 6);
    assert.ok(none.max > none.min);
});

test("thinning keeps the lowest and highest of every column, ends and holes", () => {
    const n = 10000;
    const x = Array.from({length: n}, (_, i) => i);
    const y: (number | null)[] = x.map((i) => Math.sin(i));
    y[5000] = 100;
    y[6000] = null;
    const kept = thin(x, y, 100);
    assert.ok(kept.length < 700 && kept.length > 300);
    for (const i of [0, 5000, 6000, n - 1]) assert.ok(kept.includes(i), `${i}`);
    assert.deepEqual(
        kept,
        [...kept].sort((a, b) => a - b),
    );
    assert.equal(thin([3, 1, 2], [1, 1, 1], 0).length, 3, "what is not in order is left as it is");
});

test("the nearest of sorted values is found by halving", () => {
    const values = [1, 2, 4, 8, 16];
    const slow = (v: number) =>
        values.reduce(
            (best, w, i) => (Math.abs(w - v) < Math.abs((values[best] as number) - v) ? i : best),
            0,
        );
    for (let v = -1; v < 20; v += 0.37) assert.equal(nearest(values, v), slow(v), `${v}`);
    assert.equal(nearest([], 1), -1);
});

test("extents pass over what is missing", () => {
    assert.deepEqual(extent([null, 3, NaN, -1, undefined, Infinity]), [-1, 3]);
    assert.deepEqual(extent([0, 3, -1], true), [3, 3]);
    assert.equal(extent([null]), null);
});

test("statistics agree with what is known", () => {
    assert.equal(mean([1, null, 3]), 2);
    assert.ok(Number.isNaN(mean([null])));
    assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
    assert.equal(quantile([1, 2, 3, 4, 5], 0.25), 2);
    assert.equal(quantile([7], 0.9), 7);
    assert.equal(change(50, 75), 50);
    assert.equal(change(-2, -1), 50);
    assert.equal(change(0, 0), 0);
    for (const bad of [change(0, 1), change(null, 1), change(1, undefined)]) assert.ok(Number.isNaN(bad));
});

test("numbers are short, and units fit their size", () => {
    assert.equal(number(1234567), "1\u202f234\u202f567");
    assert.equal(number(0.00001234), "1.234e-5");
    assert.equal(number(-2.5), "\u22122.5");
    assert.equal(number(null), "\u2013");
    assert.equal(number(99999.6, 4), "100\u202f000");
    assert.equal(compact(20000), "20\u202fk");
    assert.equal(compact(1500000), "1.5\u202fM");
    assert.equal(compact(0.25), "0.25");
    assert.equal(compact(1e-9), "1e-9");
    assert.equal(quantity(1500000, "ns"), "1.5\u00a0ms");
    assert.equal(quantity(2e9, "B/s"), "2\u00a0GB/s");
    assert.equal(quantity(0, "ns"), "0\u00a0ns");
    assert.equal(quantity(12, "%"), "12\u00a0%");
    assert.equal(named("time", "ns"), "time (ns)");
    assert.equal(named("time (ns)", "ns"), "time (ns)");
    assert.equal(cell(null), "\u2013");
});

// As a reader of CSV would read it.
function readCsv(text: string): string[][] {
    const rows: string[][] = [[]];
    let field = "";
    let quoted = false;
    for (let i = 0; i < text.length; i++) {
        const c = text[i] as string;
        if (quoted) {
            if (c === '"' && text[i + 1] === '"') field += text[++i];
            else if (c === '"') quoted = false;
            else field += c;
        } else if (c === '"') quoted = true;
        else if (c === ",") {
            rows.at(-1)?.push(field);
            field = "";
        } else if (c === "\n") {
            rows.at(-1)?.push(field.replace(/\r$/, ""));
            field = "";
            rows.push([]);
        } else field += c;
    }
    rows.pop();
    return rows;
}

test("CSV keeps every digit and every letter", () => {
    const odd = ["plain", 'with "quotes"', "a,b", "two\nlines", " spaces ", ""];
    const text = toCsv({
        id: "t",
        columns: [{name: "name"}, {name: "value", unit: "ns"}],
        rows: odd.map((o, i) => [o, i / 3]),
    });
    const rows = readCsv(text);
    assert.deepEqual(rows[0], ["name", "value (ns)"]);
    odd.forEach((o, i) => assert.deepEqual(rows[i + 1], [o, String(i / 3)]));
    assert.equal(Number(rows[2]?.[1]), 1 / 3);
});

test("a unit that a column's name tells already is not told twice", () => {
    const head = (name: string, unit: string) => toCsv({id: "t", columns: [{name, unit}], rows: []}).trim();
    assert.equal(head("mean_ns", "ns"), "mean_ns");
    assert.equal(head("mean", "ns"), "mean (ns)");
    assert.equal(head("load", ""), "load");
});

test("every figure's data are a table of as many columns as it says", () => {
    for (const fig of FIGURES) {
        const t = dataOf(fig);
        assert.ok(t.rows.length > 0, fig.id);
        for (const row of t.rows) assert.equal(row.length, t.columns.length, fig.id);
    }
    assert.equal(dataOf(machine(3, 2)).rows.length, 6 * 2);
    assert.deepEqual(dataOf(sequence).rows[1]?.slice(2, 4), ["application", "client"]);
});

function walk(shapes: Shape[], visit: (s: Shape) => void): void {
    for (const s of shapes) {
        visit(s);
        walk(s.kids, visit);
    }
}

test("no picture has a number that is not one", () => {
    for (const fig of FIGURES)
        for (const width of [320, 720, 1000]) {
            const picture = draw(fig, defaultView(width));
            walk(picture.shapes, (s) => {
                for (const [name, v] of Object.entries(s.attrs))
                    assert.ok(
                        !/NaN|Infinity|undefined|null/.test(String(v ?? "")),
                        `${fig.id} ${s.tag} ${name}="${v}"`,
                    );
                const x = s.attrs["x"];
                if (typeof x === "number")
                    assert.ok(x >= -30 && x <= width + 30, `${fig.id} ${s.tag} x=${x} of ${width}`);
            });
            for (const spot of picture.spots()) {
                assert.ok(Number.isFinite(spot.x + spot.y), fig.id);
                assert.ok(spot.says.length > 3 && !/NaN|undefined/.test(spot.says), spot.says);
            }
        }
});

test("empty figures are drawn, empty", () => {
    const empty: Figure[] = [
        {id: "a", title: "", kind: "lines", x: {}, y: {}, series: []},
        {
            id: "b",
            title: "",
            kind: "lines",
            x: {scale: "log"},
            y: {scale: "log"},
            series: [{name: "s", x: [null], y: [null]}],
        },
        {id: "c", title: "", kind: "boxes", y: {}, boxes: []},
        {id: "d", title: "", kind: "bars", y: {}, bars: []},
        {id: "e", title: "", kind: "machine", groups: [], links: []},
        {id: "f", title: "", kind: "matrix", rows: [], cols: [], values: []},
        {id: "g", title: "", kind: "sequence", lanes: [], steps: []},
        {
            id: "h",
            title: "",
            kind: "boxes",
            y: {},
            boxes: [{name: "x", min: null, q1: null, median: null, q3: null, max: null}],
        },
    ];
    for (const fig of empty) {
        const text = svgFile(fig, defaultView());
        assert.ok(!/NaN|Infinity|undefined/.test(text), `${fig.id}: ${text}`);
        draw(fig, defaultView()).spots();
    }
});

test("what is hidden is neither drawn nor read out, and its colour is not passed on", () => {
    const view = defaultView();
    view.hidden.add("minimal");
    const picture = draw(sweep, view);
    assert.ok(picture.spots().every((s) => !s.says.startsWith("minimal")));
    const text = svgFile(sweep, view);
    assert.ok(!text.includes(">minimal<") && text.includes(">valiant<"));
    assert.ok(!text.includes("#0068a8") && text.includes("#c44e00"));
});

test("a saved picture is XML without classes, with title, description and all letters escaped", () => {
    for (const fig of FIGURES) {
        const text = svgFile(fig, defaultView());
        assert.match(
            text,
            /^<\?xml version="1.0" encoding="UTF-8"\?>\n<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="720"/,
        );
        assert.ok(!/ class=| style=|var\(/.test(text));
        assert.ok(text.includes(`<title>${fig.title}</title>`));
        const open = text.match(/<[a-zA-Z]+(?=[ >/])/g)?.length ?? 0;
        const closed = (text.match(/<\/[a-zA-Z]+>/g)?.length ?? 0) + (text.match(/\/>/g)?.length ?? 0);
        assert.equal(open, closed, fig.id);
    }
    const text = svgFile(sweep, defaultView());
    assert.ok(text.includes("par &lt;adaptive&gt; &amp; &quot;quoted&quot;"));
    assert.equal(toText({...el("text"), text: "a\u0001b"}), "<text>a?b</text>");
});

test("curves break where a value is missing", () => {
    const text = svgFile(sweep, defaultView());
    const d = [...text.matchAll(/ d="(M[^"]*)"[^>]*stroke-linejoin/g)].map((m) => m[1] as string);
    assert.equal(d[2]?.match(/M/g)?.length, 2, "the third curve is in two pieces");
    assert.equal(d[0]?.match(/M/g)?.length, 1);
});

test("the slider's slices change the machine's colours, and their numbers are the document's", () => {
    const fig = machine(5, 4);
    const says = (slice: number) =>
        draw(fig, {...defaultView(), slice})
            .spots()
            .map((s) => s.says);
    assert.notDeepEqual(says(0), says(1));
    const link = fig.kind === "machine" ? fig.links.find((l) => l.a === 0 && l.b === 1) : undefined;
    const expect = `group 0 to group 1: busy ${number((link?.load[2] as number) * 100, 4)}\u00a0%`;
    assert.ok(
        says(2).some((s) => s.includes(expect)),
        expect,
    );
    const all = says(-1).find((s) => s.includes("group 0 to group 1:"));
    assert.ok(all?.includes(`busy ${number(mean(link?.load ?? []) * 100, 4)}`), all);
});

test("the pointer finds the nearest point, a cell only from inside, and a line along its length", () => {
    const spots: Spot[] = [
        {x: 10, y: 10, row: 0, says: "a"},
        {x: 50, y: 10, row: 0, says: "b"},
        {x: 100, y: 100, w: 20, h: 20, row: 1, says: "c"},
        {
            x: 250,
            y: 250,
            path: [
                [200, 200],
                [300, 300],
            ],
            row: 2,
            says: "d",
        },
    ];
    assert.equal(spotAt(spots, "xy", 14, 12), 0);
    assert.equal(spotAt(spots, "xy", 44, 12), 1);
    assert.equal(spotAt(spots, "inside", 110, 110), 2);
    assert.equal(spotAt(spots, "xy", 202, 204), 3);
    assert.equal(spotAt(spots, "xy", 500, 500), -1);
});

test("arrow keys stay in their row and end at its ends", () => {
    const spots: Spot[] = [0, 1, 2, 0, 1, 2].map((x, i) => ({x: x * 10, y: 0, row: i < 3 ? 0 : 1, says: ""}));
    assert.equal(spotBeside(spots, -1, 1, 0), 0);
    assert.equal(spotBeside(spots, 0, 1, 0), 1);
    assert.equal(spotBeside(spots, 2, 1, 0), 2);
    assert.equal(spotBeside(spots, 1, 0, 1), 4);
    assert.equal(spotBeside(spots, 4, 0, 1), 4);
    assert.equal(spotBeside(spots, 4, 0, -1), 1);
});

test("every kind of figure is in the fixture", () => {
    const seen = new Set(everything.sections.flatMap((s) => (s.figures ?? []).map((f) => f.kind)));
    assert.deepEqual([...seen].sort(), ["bars", "boxes", "lines", "machine", "matrix", "sequence"]);
});

test("what is shown comes back from its address", () => {
    const s = {...emptyState("compare"), runs: ["a/b c.weir", "d&e=f#g.weir"], section: "links", dir: "x y"};
    s.filter = {q: "a b", kind: "sim"};
    s.figures.set("machine", {
        hidden: new Set(["job:a,b", "100 %", "\u00e4"]),
        slice: 3,
        show: "sat",
        xLog: true,
        yLog: false,
    });
    const back = readState(writeState(s));
    assert.deepEqual(back, s);
    assert.ok(sameDocuments(back, s));
    assert.ok(!sameDocuments(back, {...s, runs: ["a/b c.weir"]}));
});

test("an address that makes no sense shows the list", () => {
    for (const hash of ["", "#", "#view=nothing", "#%", "#run=%E0%A4%A", "#f.x=h%,s-1,q,,s99999999999"]) {
        const s = readState(hash);
        assert.equal(s.view, "runs", hash);
        for (const v of s.figures.values()) assert.ok((v.slice ?? 0) >= 0 && (v.slice ?? 0) < 1e6);
    }
    assert.deepEqual(readView("s2"), {slice: 2});
    assert.equal(writeView(defaultView()), "");
});

test("parts of two documents find each other, and none is lost", () => {
    const of = (...ids: string[]) => ids.map((id) => ({id}));
    const pairs = pairUp(of("a", "b", "c"), of("c", "d", "a"));
    assert.deepEqual(
        pairs.map((p) => [p.id, !!p.a, !!p.b]),
        [
            ["a", true, true],
            ["b", true, false],
            ["c", true, true],
            ["d", false, true],
        ],
    );
});

test("figures side by side span the same", () => {
    const one = (y: number[]): Figure => ({
        id: "f",
        title: "",
        kind: "lines",
        x: {},
        y: {},
        series: [{name: "s", x: [0, 1, 2], y}],
    });
    const [a, b] = shareAxes(one([1, 2, 3]), one([10, 200, 30]));
    const span = (f: Figure) => draw(f, defaultView()).domain;
    assert.deepEqual(span(a), span(b));
    assert.ok((span(a)?.y?.[1] ?? 0) >= 200);
    assert.deepEqual(shareAxes(sweep, boxes), [sweep, boxes], "different kinds stay as they are");
});

test("merged tables tell by how much numbers differ", () => {
    const table = (rows: [string, number | null][]) => ({
        id: "t",
        columns: [{name: "what"}, {name: "mean", unit: "ns"}],
        rows,
    });
    const both = mergeTables(
        table([
            ["x", 100],
            ["y", 5],
        ]),
        table([
            ["z", 1],
            ["x", 150],
        ]),
        ["A", "B"],
    );
    assert.deepEqual(
        both?.columns.map((c) => c.name),
        ["what", "mean, A", "mean, B", "mean, change"],
    );
    assert.deepEqual(both?.rows, [
        ["x", 100, 150, 50],
        ["y", 5, null, null],
        ["z", null, 1, null],
    ]);
    assert.equal(
        mergeTables(
            table([
                ["x", 1],
                ["x", 2],
            ]),
            table([["x", 1]]),
            ["A", "B"],
        ),
        null,
        "rows that cannot be told apart",
    );
});

test("runs pass a filter when all of its words are found", () => {
    const run = {
        id: "d/r1.weir",
        name: "r1",
        kind: "sim",
        status: "complete",
        study: "hybrid",
        choices: {routing: "par"},
    };
    assert.ok(passes(run, {}));
    assert.ok(passes(run, {q: "HYBRID routing=par"}));
    assert.ok(!passes(run, {q: "hybrid minimal"}));
    assert.ok(!passes(run, {kind: "prof"}));
    assert.ok(passes(run, {study: "hybrid", status: "complete"}));
});

test("keys of the configuration that a study's file speaks of are offered", () => {
    const text =
        "name: x # not.a=key\nrun: ../hybrid.yaml\ncross:\n  load: {key: traffic.load, values: [10%]}\n" +
        "  w: {set: [jobs.0.name=nekbone, jobs.*.program.file=../apps/nek.ncptl]}\n";
    assert.deepEqual(keysOf(text), [
        ["traffic.load", ""],
        ["jobs.0.name", "nekbone"],
        ["jobs.*.program.file", "../apps/nek.ncptl"],
    ]);
});

test("a name has the colour that the document gives it, in the picture and in the legend", () => {
    const own = draw(bars, defaultView());
    const names = own.legend.map((e) => e.name);
    const inks = Object.fromEntries(names.map((n, i) => [n, 11 - i]));
    const given = draw({...bars, inks}, defaultView());
    assert.deepEqual(
        given.legend.map((e) => e.k),
        names.map((n) => inks[n]),
    );
    assert.match(JSON.stringify(given.shapes), /part s11/);
    // Names of the language's own objects are names like others.
    const odd = {...bars, inks: {}, bars: [{name: "a", parts: [{name: "constructor", value: 1}]}]};
    assert.match(JSON.stringify(draw(odd, defaultView()).shapes), /part s0/);
});

// A shape as a grey print shows it: without classes, colours and the numbers of patterns.
function grey(s: Shape): string {
    return JSON.stringify(s, (key, value) =>
        key === "class" || key === "fill" || key === "stroke" || key === "id" ? undefined : (value as unknown),
    );
}

test("what a legend shows differs without colour, and so do lines", () => {
    const lines: Figure = {
        ...(sweep as Extract<Figure, {kind: "lines"}>),
        series: Array.from({length: 10}, (_, i) => ({
            name: `s${i}`,
            style: i % 2 ? "line" : "guide",
            x: [0, 1],
            y: [i, i + 1],
        })),
    };
    for (const fig of [...FIGURES, lines, {...lines, inks: Object.fromEntries(lines.series.map((s) => [s.name, 3]))}]) {
        // Links of a class are not drawn in another way: their entries hide and show them.
        const entries = draw(fig, defaultView()).legend.filter((e) => !e.key.startsWith("class:"));
        assert.equal(new Set(entries.map((e) => grey(swatch(e)))).size, entries.length, fig.id);
    }
    const dashes = draw(lines, defaultView()).shapes.flatMap((s) => JSON.stringify(s).match(/dasharray":"[^"]*/g) ?? []);
    assert.equal(new Set(dashes).size, 9); // and a solid one
});

test("names on an axis are all there, and what a spot says has them", () => {
    const fig: Figure = {
        id: "n",
        title: "t",
        kind: "lines",
        x: {label: "job", categories: ["milc, random", "nekbone, contiguous and long", "cosmoflow"]},
        y: {label: "times"},
        series: [{name: "elapsed", style: "marks", x: [-0.15, 0.85, 2.15], y: [1, 2, 3]}],
    };
    const picture = draw(fig, defaultView());
    const text = JSON.stringify(picture.shapes);
    for (const name of ["milc, random", "cosmoflow"]) assert.ok(text.includes(name), name);
    assert.deepEqual(
        picture.spots().map((s) => /job (.*), times/.exec(s.says)?.[1]),
        (fig.x as {categories: string[]}).categories,
    );
});

test("a running run says how far it is, or that it is not known", () => {
    assert.equal(progressWords(0.412, 2e6, "simulated time"), "running, 41.2\u00a0% of simulated time at 2\u00a0ms");
    assert.match(progressWords(null, null), /not known/);
});

test("what a lane does while it does something else lies in a row of its own", () => {
    const step = (t0: number, t1: number, lane = 0, to?: number) => ({t0, t1, lane, label: "", ...(to === undefined ? {} : {to})});
    const outer = step(0, 10);
    const [first, second, inner] = [step(1, 3), step(4, 8), step(5, 6)];
    const {row, rows} = rowsOf([inner, outer, first, second, step(2, 2, 0, 1)], 2);
    assert.deepEqual(
        [outer, first, second, inner].map((s) => row.get(s)),
        [0, 1, 1, 2],
    );
    assert.deepEqual(rows, [3, 1]); // a lane without anything has space for its name
});

test("a band is explained though it is alone, a curve is what the title says", () => {
    assert.ok(sweep.kind === "lines" && fan.kind === "lines");
    const one = {...sweep, series: sweep.series.slice(0, 1)};
    assert.equal(legendOf(one, draw(one, defaultView()).legend).length, 0);
    const alone = {...fan, series: fan.series.filter((s) => s.style === "fan").slice(0, 1)};
    assert.equal(legendOf(alone, draw(alone, defaultView()).legend).length, 1);
});

test("colours of a matrix are logarithmic where amounts differ by more than four powers of ten", () => {
    const of = (values: number[]): MatrixFigure => ({id: "m", title: "", kind: "matrix", rows: ["a"], cols: values.map(String), values});
    assert.equal(wideMatrix(of([1, 101])), true);
    assert.equal(wideMatrix(of([1, 100])), false);
    assert.equal(wideMatrix(of([0, 0])), false);
});
