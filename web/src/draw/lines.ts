// lines.ts -- curves, marks, steps, areas and fans in one frame.

import type {Axis, LinesFigure, Num, Series} from "../document";
import {number, quantity} from "../format";
import {scaleFor, thin, type Scale} from "../scale";
import {axisX, axisY, bandLeft, bandNames, border, BOTTOM, leftRoom, RIGHT, TOP, type Frame} from "./frame";
import {INK, inksOf, seriesInk, type SeriesInk} from "./ink";
import type {LegendEntry, Picture, Spot, View} from "./picture";
import {el, label, round, textWidth, type Shape} from "./tree";

interface Place {
    f: Frame;
    sx: Scale;
    sy: Scale;
}

const HEIGHT = 300;

function withScale(axis: Axis, log: boolean | undefined): Axis {
    return log === undefined ? axis : {...axis, scale: log ? "log" : "linear"};
}

// A place beyond the frame is clipped, but numbers that are too large are no places at all.
function clamp(place: number): number {
    return Math.max(-20, Math.min(20, place));
}

function px(p: Place, x: Num | undefined): number {
    return round(p.f.x + clamp(p.sx.at(x)) * p.f.w);
}

function py(p: Place, y: Num | undefined): number {
    return round(p.f.y + (1 - clamp(p.sy.at(y))) * p.f.h);
}

function pathOf(s: Series, p: Place): string {
    let d = "";
    let joined = false;
    for (const i of thin(s.x, s.y, Math.max(200, p.f.w))) {
        const x = px(p, s.x[i]);
        const y = py(p, s.y[i]);
        if (Number.isNaN(x) || Number.isNaN(y)) {
            joined = false;
            continue;
        }
        d += !joined ? `M${x} ${y}` : s.style === "steps" ? `H${x}V${y}` : `L${x} ${y}`;
        joined = true;
    }
    return d;
}

// Stretches of points that have all they need, each closed to an area between `low` and `high`.
function areaOf(s: Series, low: (i: number) => number, high: (i: number) => number, p: Place): string {
    let d = "";
    let run: [number, number, number][] = [];
    const close = () => {
        if (run.length > 1)
            d +=
                "M" +
                run.map(([x, , b]) => `${x} ${b}`).join("L") +
                "L" +
                run
                    .reverse()
                    .map(([x, a]) => `${x} ${a}`)
                    .join("L") +
                "Z";
        run = [];
    };
    for (let i = 0; i < s.x.length; i++) {
        const x = px(p, s.x[i]);
        const a = low(i);
        const b = high(i);
        if (Number.isNaN(x + a + b)) close();
        else run.push([x, a, b]);
    }
    close();
    return d;
}

function form(s: Series): LegendEntry["form"] {
    const style = s.style ?? "curve";
    if (style === "curve") return isMarked(s) ? "curve" : "line";
    return style === "marks" || style === "guide" ? style : "line";
}

function filled(s: Series, p: Place): Shape | null {
    const base = p.f.y + p.f.h;
    let d = "";
    if (s.style === "fan")
        d = areaOf(
            s,
            (i) => py(p, s.low?.[i]),
            (i) => py(p, s.high?.[i]),
            p,
        );
    if (s.style === "area") {
        const zero = p.sy.log || p.sy.min > 0 ? base : py(p, 0);
        d = areaOf(
            s,
            () => zero,
            (i) => py(p, s.y[i]),
            p,
        );
    }
    return d ? el("path", {class: "fill", d, "fill-opacity": 0.2, stroke: "none"}) : null;
}

// Every series has its mark; those that show none are told apart by dashes, in their own order.
function placesOf(series: Series[]): number[] {
    let plain = 0;
    return series.map((s, i) => (isMarked(s) ? i : plain++));
}

function isMarked(s: Series): boolean {
    const few = s.x.length <= 300; // marks side by side are a thick line
    return s.style === "marks" || (few && (s.style ?? "curve") === "curve");
}

function points(s: Series, ink: SeriesInk, p: Place): Shape[] {
    const shapes: Shape[] = [];
    for (let i = 0; i < s.x.length; i++) {
        const ax = p.sx.at(s.x[i]);
        const ay = p.sy.at(s.y[i]);
        if (!(ax > -1e-9 && ax < 1 + 1e-9 && ay > -1e-9 && ay < 1 + 1e-9)) continue;
        const x = px(p, s.x[i]);
        const y = py(p, s.y[i]);
        const low = s.low?.[i];
        const high = s.high?.[i];
        if (s.style !== "fan" && typeof low === "number" && typeof high === "number" && low < high) {
            const bottom = Number.isNaN(p.sy.at(low)) ? p.f.y + p.f.h : Math.min(py(p, low), p.f.y + p.f.h);
            const top = Math.max(py(p, high), p.f.y);
            shapes.push(
                el("path", {
                    class: "bar",
                    d: `M${x} ${bottom}V${top}m-3 0h6M${round(x - 3)} ${bottom}h6`,
                    fill: "none",
                    "stroke-width": 1.2,
                }),
            );
        }
        const open = !!s.open?.[i];
        shapes.push(
            el("path", {
                class: open ? "mark open" : "mark",
                d: ink.mark,
                transform: `translate(${x} ${y})`,
                "stroke-width": 1.6,
                fill: open ? INK.ground : undefined,
            }),
        );
    }
    return shapes;
}

function seriesShapes(s: Series, k: number, at: number, p: Place, clip: string): Shape {
    const guide = s.style === "guide";
    const ink = seriesInk(k, at, isMarked(s), guide);
    const kids: (Shape | null)[] = [filled(s, p)];
    if (s.style !== "marks")
        kids.push(
            el("path", {
                class: "line",
                d: pathOf(s, p) || "M0 0",
                fill: "none",
                "stroke-width": guide ? 1.2 : 2,
                "stroke-linejoin": "round",
                "stroke-linecap": "round",
                "stroke-dasharray": ink.dash,
            }),
        );
    const marked = isMarked(s) || s.open?.some(Boolean);
    return el("g", {class: ink.className, fill: ink.colour, stroke: ink.colour}, [
        el("g", {"clip-path": `url(#${clip})`}, kids),
        ...(marked ? points(s, ink, p) : []),
    ]);
}

function across(fig: LinesFigure, p: Place): {behind: Shape[]; front: Shape[]} {
    const behind: Shape[] = [];
    const front: Shape[] = [];
    const {f} = p;
    for (const b of fig.bands ?? []) {
        const x0 = Math.max(f.x, px(p, b.x0));
        const x1 = Math.min(f.x + f.w, px(p, b.x1));
        if (!(x1 > x0)) continue;
        const rect = {x: round(x0), y: f.y, width: round(x1 - x0), height: f.h};
        behind.push(el("rect", {class: "band", ...rect, fill: INK.dim, "fill-opacity": 0.12}));
        if (textWidth(b.label, 12) < x1 - x0 - 6)
            behind.push(
                label(b.label, (x0 + x1) / 2, f.y + 14, {
                    class: "dim",
                    fill: INK.dim,
                    "text-anchor": "middle",
                    "font-size": 12,
                }),
            );
    }
    let row = 0;
    for (const m of fig.marks ?? []) {
        const upright = typeof m.x === "number";
        const at = upright ? px(p, m.x) : py(p, m.y);
        if (Number.isNaN(at) || at < (upright ? f.x : f.y) - 1 || at > (upright ? f.x + f.w : f.y + f.h) + 1)
            continue;
        const d = upright ? `M${at} ${f.y}v${f.h}` : `M${f.x} ${at}h${f.w}`;
        front.push(el("path", {class: "rule", d, stroke: INK.dim, fill: "none", "stroke-dasharray": "4 3"}));
        const right = upright && at + textWidth(m.label, 12) + 8 > f.x + f.w;
        const x = upright ? at + (right ? -5 : 5) : f.x + f.w - 4;
        const y = upright ? f.y + 28 + 15 * (row++ % 4) : at - 4;
        front.push(
            label(m.label, x, y, {
                class: "dim halo",
                fill: INK.dim,
                "font-size": 12,
                "text-anchor": right || !upright ? "end" : "start",
            }),
        );
    }
    return {behind, front};
}

function tells(fig: LinesFigure, s: Series, i: number): string {
    const unitY = fig.y.unit ?? "";
    const low = s.low?.[i];
    const high = s.high?.[i];
    const x = fig.x.categories?.[Math.round(s.x[i] as number)] ?? quantity(s.x[i], fig.x.unit, 5);
    let text = `${s.name}: ${fig.x.label ?? "x"} ${x}, ${fig.y.label ?? "y"} ${quantity(s.y[i], unitY, 5)}`;
    if (typeof low === "number" && typeof high === "number")
        text += ` (${number(low)} to ${quantity(high, unitY)})`;
    if (s.open?.[i]) text += `; ${fig.open_means ?? "open point"}`;
    return text;
}

function spotsOf(fig: LinesFigure, shown: Series[], p: Place): Spot[] {
    const spots: Spot[] = [];
    shown.forEach((s, row) => {
        for (let i = 0; i < s.x.length; i++) {
            const ax = p.sx.at(s.x[i]);
            const ay = p.sy.at(s.y[i]);
            if (!(ax > -1e-6 && ax < 1 + 1e-6 && ay > -1e-6 && ay < 1 + 1e-6)) continue;
            spots.push({x: px(p, s.x[i]), y: py(p, s.y[i]), row, says: tells(fig, s, i)});
        }
    });
    return spots;
}

export function drawLines(fig: LinesFigure, view: View): Picture {
    const shown = fig.series.filter((s) => !view.hidden.has(s.name));
    const inks = inksOf(
        fig,
        fig.series.map((s) => s.name),
    );
    const places = placesOf(fig.series);
    const xAxis = withScale(fig.x, view.xLog);
    const yAxis = withScale(fig.y, view.yLog);
    const xs = shown.flatMap((s) => s.x);
    const data = shown.filter((s) => s.style !== "guide");
    const ys = (data.length ? data : shown).flatMap((s) => [
        ...s.y,
        ...(s.low ?? []).filter((v) => v === null || yAxis.scale !== "log" || v > 0),
        ...(s.high ?? []),
    ]);
    const zero = shown.some((s) => s.style === "area") || startsLow(ys);
    const sy = scaleFor(yAxis, ys, 6, zero);
    const left = fig.x.categories ? bandLeft(fig.x.categories, leftRoom(sy), view.width) : leftRoom(sy);
    const f: Frame = {x: round(left), y: TOP, w: round(view.width - left - RIGHT), h: HEIGHT};
    let sx = scaleFor(xAxis, xs, Math.max(3, Math.floor(f.w / 80)));
    if (!sx.log && xAxis.min == null && xAxis.max == null) sx = snug(sx, xs, xAxis, f);
    if (fig.x.categories) sx = scaleFor({min: -0.5, max: fig.x.categories.length - 0.5}, xs, 8);
    const under = fig.x.categories
        ? bandNames(fig.x.categories, f)
        : {shapes: axisX(f, sx, xAxis), height: BOTTOM - 8};
    const p: Place = {f, sx, sy};
    const clip = `clip-${fig.id}`;
    const {behind, front} = across(fig, p);
    return {
        width: view.width,
        height: TOP + HEIGHT + under.height + 8,
        plot: f,
        near: "x",
        domain: {x: [sx.min, sx.max], y: [sy.min, sy.max]},
        note: shown.some((s) => s.open?.some(Boolean))
            ? `hollow: ${fig.open_means ?? "see the data"}`
            : undefined,
        legend: fig.series.map((s, i) => ({
            key: s.name,
            name: s.name,
            k: inks[i] as number,
            at: places[i] as number,
            form: form(s),
        })),
        shapes: [
            el("clipPath", {id: clip}, [el("rect", {x: f.x, y: f.y - 1, width: f.w + 1, height: f.h + 2})]),
            ...behind,
            ...axisY(f, sy, yAxis),
            ...under.shapes,
            border(f),
            ...fig.series.map((s, i) =>
                view.hidden.has(s.name) ? el("g") : seriesShapes(s, inks[i] as number, places[i] as number, p, clip),
            ),
            ...front,
        ],
        spots: () => spotsOf(fig, shown, p),
    };
}

// Numbers that reach down to near 0 are shown from 0; those far from it are not squeezed.
function startsLow(values: Num[]): boolean {
    let low = Infinity;
    let high = -Infinity;
    for (const v of values)
        if (v !== null && Number.isFinite(v)) {
            low = Math.min(low, v);
            high = Math.max(high, v);
        }
    return low >= 0 && low < high * 0.5;
}

// Curves over time end where their data end, not at the next round number.
function snug(sx: Scale, xs: Num[], axis: Axis, f: Frame): Scale {
    let low = Infinity;
    let high = -Infinity;
    for (const v of xs)
        if (v !== null && Number.isFinite(v)) {
            low = Math.min(low, v);
            high = Math.max(high, v);
        }
    if (!(high > low)) return sx;
    const air = (high - low) * 0.01;
    const min = low >= 0 && low < (high - low) * 0.15 ? 0 : low - air;
    return scaleFor({...axis, min, max: high + air}, xs, Math.max(3, Math.floor(f.w / 80)));
}
