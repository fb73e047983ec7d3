// fixture.ts -- a made-up document with a figure of every kind, for tests and for looking at.

import type {Figure, ReportDocument, Table} from "../src/document";

const range = (n: number) => Array.from({length: n}, (_, i) => i);
const wave = (i: number, k: number) => Math.abs(Math.sin(i * 0.7 + k)) * 0.8 + 0.05;

export const sweep: Figure = {
    id: "sweep-latency",
    title: "Mean latency by load",
    desc: "Minimal routing has the lowest latency up to a load of 25 %, where it saturates.",
    kind: "lines",
    table: "sweep-table",
    x: {label: "offered load", unit: "%", scale: "linear", min: null, max: null},
    y: {label: "mean latency", unit: "ns", scale: "log"},
    open_means: "saturated",
    series: [
        {
            name: "minimal",
            style: "curve",
            x: [5, 10, 15, 20, 25],
            y: [900, 950, 1100, 1500, 40000],
            open: [0, 0, 0, 0, 1],
        },
        {
            name: "valiant",
            style: "curve",
            x: [5, 10, 15, 20, 25],
            y: [1500, 1550, 1600, 1700, 1800],
            low: [1400, 1500, 1550, 1600, 1700],
            high: [1600, 1600, 1650, 1800, 1900],
        },
        {
            name: 'par <adaptive> & "quoted"',
            style: "curve",
            x: [5, 10, 15, 20, 25],
            y: [950, 1000, null, 1300, 1500],
        },
        {name: "published, minimal", style: "marks", x: [5, 10, 15], y: [920, 980, 1090]},
        {name: "zero load", style: "guide", x: [5, 25], y: [880, 880]},
    ],
    marks: [{x: 22, label: "knee"}],
    bands: [{x0: 10, x1: 15, label: "overlap"}],
};

export const fan: Figure = {
    id: "forecast",
    title: "Forecast",
    desc: "The latency stays low for the next ten seconds with a probability of 80 %.",
    kind: "lines",
    x: {label: "time", unit: "s"},
    y: {label: "latency", unit: "ms"},
    series: [
        {
            name: "80 % of outcomes",
            style: "fan",
            x: range(20),
            y: range(20).map((i) => 3 + i * 0.1),
            low: range(20).map((i) => 3 - i * 0.05),
            high: range(20).map((i) => 3 + i * 0.3),
        },
        {name: "histogram", style: "steps", x: range(20), y: range(20).map((i) => (i % 5) + 1)},
        {
            name: "density",
            style: "area",
            x: range(20),
            y: range(20).map((i) => Math.exp(-((i - 9) ** 2) / 12) * 3),
        },
        {name: "plain", style: "line", x: range(20), y: range(20).map((i) => 5 + Math.sin(i / 3))},
    ],
};

export const boxes: Figure = {
    id: "study-latency",
    title: "Message latency by placement",
    desc: "With the I/O job beside it the median of milc rises by a third under random placement.",
    kind: "boxes",
    y: {label: "latency", unit: "ns"},
    boxes: ["random", "contiguous", "clustered by cabinet"].flatMap((group, g) =>
        ["baseline", "hybrid"].map((name, i) => {
            const m = 1000 + 300 * g + 400 * i;
            return {
                name,
                group,
                min: m * 0.5,
                q1: m * 0.8,
                median: m,
                q3: m * 1.4,
                max: m * 2.2,
                mean: m * 1.1,
                n: 5000,
            };
        }),
    ),
};

export const bars: Figure = {
    id: "attribution",
    title: "What the time went to",
    desc: "Waiting for devices is most of what the hybrid adds.",
    kind: "bars",
    x: {label: "time", unit: "ms"},
    y: {},
    bars: ["milc", "nekbone"].flatMap((group) =>
        ["baseline", "hybrid"].map((name, i) => ({
            name,
            group,
            parts: [
                {name: "network", value: 3 + i},
                {name: "nic", value: 1},
                {name: "device", value: 2 + 4 * i},
                {name: "waiting", value: 5},
                {name: "software", value: 0.5},
                {name: "transfer", value: 2},
                {name: "reserve", value: i ? 1.5 : null},
            ],
        })),
    ),
};

export function machine(n = 9, slices = 12): Figure {
    return {
        id: "machine",
        title: "The machine",
        desc: "Links between groups 0 and 3 are the busiest.",
        kind: "machine",
        groups: range(n).map((i) => ({
            id: i,
            label: `group ${i}`,
            x: Math.sin((i / n) * 2 * Math.PI),
            y: -Math.cos((i / n) * 2 * Math.PI),
            jobs:
                i % 3 === 0
                    ? [
                          {name: "milc", ranks: 24},
                          {name: "io", ranks: 8},
                      ]
                    : i % 3 === 1
                      ? [{name: "milc", ranks: 32}]
                      : [],
        })),
        links: range(n).flatMap((a) =>
            range(n)
                .filter((b) => b >= a)
                .map((b) => ({
                    a,
                    b,
                    class: a === b ? "local" : "global",
                    n: a === b ? 12 : 2,
                    load: range(slices).map((s) => wave(s, a * 3 + b)),
                    sat: range(slices).map((s) => wave(s, a + b) / 4),
                })),
        ),
        slices: {n: slices, dt_ns: 5e5},
    };
}

export const matrix: Figure = {
    id: "traffic",
    title: "Traffic matrix",
    desc: "Most traffic stays near the diagonal.",
    kind: "matrix",
    x: {label: "to node"},
    y: {label: "from node"},
    rows: range(16).map((i) => `${i * 4}`),
    cols: range(16).map((i) => `${i * 4}`),
    unit: "B",
    values: range(256).map((i) => {
        const d = Math.abs(Math.floor(i / 16) - (i % 16));
        return d > 9 ? 0 : d === 5 ? null : 4e6 / (1 + d * d);
    }),
};

export const sequence: Figure = {
    id: "stack",
    title: "One write through the layers",
    desc: "Most of the time of a write passes in the server.",
    kind: "sequence",
    x: {label: "time", unit: "us"},
    lanes: ["application", "client", "network", "server", "device"],
    steps: [
        {t0: 0, t1: 5, lane: 0, label: "write()", class: "call"},
        {t0: 5, t1: 8, lane: 0, to: 1, label: "request", class: "message"},
        {t0: 8, t1: 15, lane: 1, label: "pack", class: "work"},
        {t0: 15, t1: 22, lane: 1, to: 3, label: "send", class: "message"},
        {t0: 22, t1: 30, lane: 3, label: "queue", class: "wait"},
        {t0: 30, t1: 60, lane: 4, label: "flash", class: "work"},
        {t0: 60, t1: 70, lane: 3, to: 0, label: "done", class: "message"},
    ],
};

const table: Table = {
    id: "sweep-table",
    title: "Latency by load",
    columns: [
        {name: "routing", kind: "text"},
        {name: "load", unit: "%", kind: "number"},
        {name: "mean", unit: "ns", kind: "number"},
    ],
    rows: [
        ["minimal", 5, 900.125],
        ["valiant", 5, 1500],
        ['par, "adaptive"', 5, null],
    ],
};

export const everything: ReportDocument = {
    weir_report: 1,
    title: "Everything there is",
    made_by: "weir 0.1.0",
    warnings: ["b.weir is incomplete, stopped: its numbers may change; run it again for all of them."],
    runs: [
        {
            id: 0,
            name: "a",
            path: "out/a.weir",
            kind: "sim",
            complete: true,
            status: "complete",
            title: "A run",
            facts: {seed: "1", command: "weir run a.yaml"},
        },
    ],
    sections: [
        {
            id: "sweep",
            group: "sweep",
            title: "Load sweep",
            says: "Three routings under rising load.",
            figures: [sweep],
            tables: [table],
        },
        {
            id: "study",
            group: "study",
            title: "Latency",
            says: "How placements compare.",
            figures: [boxes, bars],
        },
        {
            id: "links",
            group: "run",
            title: "The machine",
            says: "Where the traffic was.",
            figures: [machine(), matrix],
        },
        {id: "state", group: "state", title: "Forecast", says: "What comes next.", figures: [fan]},
        {id: "layers", group: "stack", title: "Layers", says: "One operation.", figures: [sequence]},
    ],
};
