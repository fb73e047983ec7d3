// ink.ts -- colours, marks and dashes, the same as the pictures that are drawn in C.
//
// After Okabe and Ito's palette; every line has a contrast of 3:1 or more on its ground. A name has
// one colour in all figures, which the document says (inks). What tells the names of a figure apart
// without colour follows from their places in it: marks, dashes, hatches. So a grey print and a reader
// who sees few colours can tell them apart. style.css has the colours for dark ground.

import {el, type Shape} from "./tree";

export const INK = {
    ground: "#ffffff",
    text: "#1a1a1a",
    dim: "#555555",
    grid: "#e3e3e3",
    // Of communication 0, compute 2, I/O 4, waiting 5, software 10, nothing 11, and their shades from 12
    // to 16; the others are of jobs and all else.
    series: [
        "#0068a8",
        "#c44e00",
        "#00805c",
        "#a2428a",
        "#8a6a00",
        "#4d4d4d",
        "#b2182b",
        "#6f51a1",
        "#4f7d00",
        "#0b7a87",
        "#94532f",
        "#7f7f7f",
        "#3f87bb",
        "#00406b",
        "#a17f14",
        "#5e4800",
        "#7d7040",
        "#7a1f3d",
    ],
    // From little to much, of rising darkness: the order can be seen without any colour.
    heat: ["#e6e9ec", "#c9dbe8", "#9fc6df", "#6fabd2", "#4a8bbf", "#4a66a3", "#6b3f7f", "#8a1f4c", "#8c0d12"],
};

export const MARKS = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.8L4.6 3.6h-9.2z",
    "M0-5L5 0L0 5L-5 0z",
    "M-4-4L4 4M-4 4L4-4",
    "M0-5V5M-5 0H5",
    "M0 4.8L4.6-3.6h-9.2z",
    "M-5-2h10v4h-10z",
    "M-2-5h4v10h-4z",
    "M0-5V5M-4.3-2.5L4.3 2.5M-4.3 2.5L4.3-2.5",
    "M-4.5-3.6h9L-4.5 3.6h9z",
    "M4.8 0L-3.6 4.6v-9.2z",
];

export const DASHES = [
    "",
    "7 4",
    "2 4",
    "9 3 2 3",
    "14 4",
    "4 2",
    "9 3 2 3 2 3",
    "1 2",
    "14 3 3 3",
    "6 6",
    "3 5",
    "12 2 1 2",
];

// Lines and dots in the ground's colour over an area; the first name has none.
const HATCHES = [
    "",
    "M-2 10L10 -2M-2 2L2 -2M6 10L10 6",
    "M-2 -2L10 10M-2 6L2 10M6 -2L10 2",
    "M0 4h8",
    "M4 0v8",
    "M-2 10L10 -2M-2 2L2 -2M6 10L10 6M-2 -2L10 10",
    "M0 4h8M4 0v8",
    "M3 3h2v2h-2z",
    "M0 2h8M0 6h8",
    "M2 0v8M6 0v8",
    "M1 1h2v2h-2zM5 5h2v2h-2z",
    "M0 4h4v4M4 0v4h4",
];

export interface Ink {
    colour: string;
    className: string;
}

export function inkOf(k: number): Ink {
    const n = k % INK.series.length;
    return {colour: INK.series[n] as string, className: `s${n}`};
}

export interface SeriesInk extends Ink {
    mark: string;
    dash: string | undefined;
}

// `at`: the place of its mark among the marks, or of a line that has none among such lines.
export function seriesInk(k: number, at: number, marked: boolean, guide = false): SeriesInk {
    const dash = DASHES[(marked ? Math.floor(at / MARKS.length) : at) % DASHES.length] as string;
    return {
        ...(guide ? {colour: INK.dim, className: "guide"} : inkOf(k)),
        mark: MARKS[at % MARKS.length] as string,
        dash: dash || undefined,
    };
}

// The pattern of the name at that place, and what lies over its area; null: it has none.
export function hatchDef(id: string, at: number): Shape | null {
    const d = HATCHES[at % HATCHES.length] as string;
    const lines = {class: "hatch", d, fill: "none", stroke: INK.ground, "stroke-width": 1.6};
    return d
        ? el("pattern", {id: `${id}-h${at}`, width: 8, height: 8, patternUnits: "userSpaceOnUse"}, [
              el("path", lines),
          ])
        : null;
}

export function hatchDefs(id: string, n: number): Shape {
    const defs = Array.from({length: n}, (_, at) => hatchDef(id, at));
    return el("defs", {}, defs);
}

export function hatched(id: string, at: number, shape: Shape): Shape | null {
    if (!HATCHES[at % HATCHES.length]) return null;
    const {x, y, width, height, d} = shape.attrs;
    return el(shape.tag, {class: "over", x, y, width, height, d, fill: `url(#${id}-h${at})`, "pointer-events": "none"});
}

// The colours of a figure's names: those of the document, else in the order of the names.
export function inksOf(fig: {inks?: Record<string, number>}, names: string[]): number[] {
    return names.map((name, k) => (fig.inks && Object.hasOwn(fig.inks, name) ? (fig.inks[name] as number) : k));
}

// Which of the steps of INK.heat a fraction of the most takes; -1: unknown.
export function heatStep(fraction: number): number {
    if (Number.isNaN(fraction)) return -1;
    const n = INK.heat.length;
    return Math.max(0, Math.min(n - 1, Math.floor(fraction * n)));
}
