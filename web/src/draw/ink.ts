// ink.ts -- colours, marks and dashes, the same as the pictures that are drawn in C.
//
// After Okabe and Ito's palette; every line has a contrast of 3:1 or more on its ground. Series
// differ in colour, mark and dashes, so that a grey print and a reader who sees few colours can tell
// them apart. style.css has the same for dark ground.

export const INK = {
    ground: "#ffffff",
    text: "#1a1a1a",
    dim: "#555555",
    grid: "#e3e3e3",
    // Curves take the first six, which have marks and dashes besides; areas take all.
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
];

const DASHES = ["", "7 4", "2 4", "9 3 2 3"];

export interface SeriesInk {
    colour: string;
    className: string;
    mark: string;
    dash: string | undefined;
}

const CURVES = 6;

export function seriesInk(k: number, guide = false): SeriesInk {
    const dash = DASHES[Math.floor(k / CURVES) % DASHES.length] as string;
    return {
        colour: guide ? INK.dim : (INK.series[k % CURVES] as string),
        className: guide ? "guide" : `s${k % CURVES}`,
        mark: MARKS[k % MARKS.length] as string,
        dash: dash || undefined,
    };
}

export function areaInk(k: number): {colour: string; className: string} {
    const n = k % INK.series.length;
    return {colour: INK.series[n] as string, className: `s${n}`};
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
