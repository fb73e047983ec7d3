// sequence.ts -- what happened in which lane, and what went from lane to lane; time to the right.
//
// What happens while something else goes on in the same lane lies under it, in a row of its own.

import type {SequenceFigure, SequenceStep} from "../document";
import {quantity} from "../format";
import {scaleFor} from "../scale";
import {axisX, BOTTOM, dim, RIGHT, type Frame} from "./frame";
import {DASHES, hatchDefs, hatched, INK, inkOf, inksOf, type Ink} from "./ink";
import type {Picture, Spot, View} from "./picture";
import {el, label, round, shorten, textWidth, type Shape} from "./tree";

const GAP = 30; // between lanes, for what goes from one to the other
const ROW = 18;
const THICK = 16;
const MOST_ROWS = 6;

const classOf = (s: SequenceStep) => s.class ?? "";

// A message: a line, and a head at its end.
function arrow(x0: number, y0: number, x1: number, y1: number, ink: Ink, dash: string): Shape {
    const turn = Math.atan2(y1 - y0, x1 - x0);
    const at = (off: number) =>
        `${round(x1 - 7 * Math.cos(turn + off))} ${round(y1 - 7 * Math.sin(turn + off))}`;
    const line = {d: `M${x0} ${y0}L${x1} ${y1}`, fill: "none", "stroke-width": 1.3};
    return el("g", {class: ink.className, stroke: ink.colour, fill: ink.colour}, [
        el("path", {class: "line", ...line, "stroke-dasharray": dash || undefined}),
        el("path", {class: "mark", d: `M${x1} ${y1}L${at(0.4)}L${at(-0.4)}z`, "stroke-width": 0.5}),
    ]);
}

function tells(fig: SequenceFigure, s: SequenceStep): string {
    const unit = fig.x?.unit ?? "";
    const where =
        typeof s.to === "number" ? `${fig.lanes[s.lane]} to ${fig.lanes[s.to]}` : `${fig.lanes[s.lane]}`;
    const kind = classOf(s) && classOf(s) !== s.label ? ` (${classOf(s)})` : "";
    return `${where}: ${s.label}${kind}, from ${quantity(s.t0, unit)} for ${quantity(s.t1 - s.t0, unit)}`;
}

const isMessage = (s: SequenceStep) => typeof s.to === "number" && s.to !== s.lane;

// The row of each step in its lane, and how many rows each lane has.
export function rowsOf(steps: SequenceStep[], lanes: number): {row: Map<SequenceStep, number>; rows: number[]} {
    const row = new Map<SequenceStep, number>();
    const ends: number[][] = Array.from({length: lanes}, () => []);
    const doing = steps.filter((s) => !isMessage(s)).sort((a, b) => a.t0 - b.t0 || b.t1 - a.t1);
    for (const s of doing) {
        const end = ends[s.lane] as number[];
        let at = end.findIndex((t) => t <= s.t0);
        if (at < 0) at = Math.min(end.length, MOST_ROWS - 1);
        end[at] = Math.max(end[at] ?? s.t1, s.t1);
        row.set(s, at);
    }
    return {row, rows: ends.map((e) => Math.max(1, e.length))};
}

export function drawSequence(fig: SequenceFigure, view: View): Picture {
    const classes = [...new Set(fig.steps.map(classOf))];
    const inks = inksOf(fig, classes);
    const steps = fig.steps.filter((s) => !view.hidden.has(classOf(s)) && s.lane < fig.lanes.length);
    const margin = Math.min(view.width * 0.3, Math.max(50, ...fig.lanes.map((n) => textWidth(n) + 14)));
    const {row, rows} = rowsOf(steps, fig.lanes.length);
    const tops: number[] = [];
    let below = 8;
    for (const n of rows) {
        tops.push(below);
        below += n * ROW + GAP;
    }
    const f: Frame = {x: round(margin), y: 8, w: round(view.width - margin - RIGHT), h: below - 8 - GAP + 6};
    const times = fig.steps.flatMap((s) => [s.t0, s.t1]);
    const low = times.reduce((a, b) => Math.min(a, b), Infinity);
    const high = times.reduce((a, b) => Math.max(a, b), -Infinity);
    const axis = {
        ...fig.x,
        min: fig.x?.min ?? (Number.isFinite(low) ? low : 0),
        max: fig.x?.max ?? (high > low ? high : low + 1),
    };
    const sx = scaleFor(axis, times, Math.max(3, Math.floor(f.w / 90)));
    const x = (t: number) => round(f.x + Math.max(-0.01, Math.min(1.01, sx.at(t))) * f.w);
    const top = (lane: number) => tops[lane] as number;
    const bottom = (lane: number) => top(lane) + (rows[lane] as number) * ROW;
    const shapes: Shape[] = [];
    const heads: Shape[] = [];
    const spots: Spot[] = [];
    for (const s of steps) {
        const at = classes.indexOf(classOf(s));
        const ink = inkOf(inks[at] as number);
        const [x0, x1, says] = [x(s.t0), x(s.t1), tells(fig, s)];
        if (isMessage(s)) {
            const to = s.to as number;
            const [y0, y1] = to > s.lane ? [bottom(s.lane), top(to)] : [top(s.lane), bottom(to)];
            heads.push(arrow(x0, y0, x1, y1, ink, DASHES[at % DASHES.length] as string));
            spots.push({
                x: (x0 + x1) / 2,
                y: (y0 + y1) / 2,
                path: [
                    [x0, y0],
                    [x1, y1],
                ],
                row: s.lane,
                says,
            });
            continue;
        }
        const w = Math.max(1.2, x1 - x0);
        const rect = {x: x0, y: top(s.lane) + (row.get(s) as number) * ROW, width: round(w), height: THICK};
        const part = el("rect", {
            class: `part ${ink.className}`,
            ...rect,
            fill: ink.colour,
            "fill-opacity": 0.55,
            stroke: ink.colour,
            "stroke-width": 0.6,
        });
        const over = hatched(fig.id, at, part);
        shapes.push(part, ...(over ? [over] : []));
        if (textWidth(s.label, 11) < w - 6)
            shapes.push(
                label(s.label, x0 + w / 2, rect.y + 12, {"text-anchor": "middle", "font-size": 11}),
            );
        spots.push({x: x0, y: rect.y, w, h: THICK, row: s.lane, says});
    }
    spots.sort((a, b) => a.row - b.row || a.x - b.x);
    const rails = fig.lanes.map((n, i) =>
        el("g", {}, [
            el("path", {class: "grid", d: `M${f.x} ${top(i) + THICK / 2}h${f.w}`, stroke: INK.grid}),
            dim(shorten(n, margin - 12), f.x - 8, top(i) + 12, "end"),
        ]),
    );
    return {
        width: view.width,
        height: f.y + f.h + BOTTOM,
        plot: f,
        near: "xy",
        legend:
            classes.length > 1
                ? classes.map((name, i) => ({
                      key: name,
                      name: name || "other",
                      k: inks[i] as number,
                      at: i,
                      form: "box",
                  }))
                : [],
        shapes: [hatchDefs(fig.id, classes.length), ...axisX(f, sx, fig.x), ...rails, ...shapes, ...heads],
        spots: () => spots,
    };
}
