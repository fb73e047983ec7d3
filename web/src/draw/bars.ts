// bars.ts -- lying bars, stacked of their parts. A part of the same name has the same ink everywhere.

import type {BarsFigure} from "../document";
import {number, quantity} from "../format";
import {scaleFor} from "../scale";
import {axisX, BOTTOM, dim, RIGHT, type Frame} from "./frame";
import {hatchDefs, hatched, INK, inkOf, inksOf} from "./ink";
import type {Picture, Spot, View} from "./picture";
import {el, label, round, shorten, textWidth, type Shape} from "./tree";

const THICK = 18;
const STEP = 25;
const HEAD = 24; // of a group's name

// Parts beyond zero on either side are stacked away from it.
function stack(
    parts: {name: string; value: number}[],
): {name: string; value: number; from: number; to: number}[] {
    let up = 0;
    let down = 0;
    return parts.map((p) => {
        const from = p.value >= 0 ? up : down;
        const to = from + p.value;
        if (p.value >= 0) up = to;
        else down = to;
        return {...p, from, to};
    });
}

export function drawBars(fig: BarsFigure, view: View): Picture {
    const axis = fig.x ?? fig.y;
    const unit = axis?.unit ?? "";
    const names = [...new Set(fig.bars.flatMap((b) => b.parts.map((p) => p.name)))];
    const inks = inksOf(fig, names);
    const bars = fig.bars.map((bar) => ({
        bar,
        parts: stack(
            bar.parts
                .filter(
                    (p) =>
                        !view.hidden.has(p.name) && typeof p.value === "number" && Number.isFinite(p.value),
                )
                .map((p) => ({name: p.name, value: p.value as number})),
        ),
    }));
    const ends = bars.flatMap((b) => b.parts.flatMap((p) => [p.from, p.to]));
    const grouped = new Set(fig.bars.map((b) => b.group ?? "")).size > 1 || !!fig.bars[0]?.group;
    const margin = Math.min(view.width * 0.34, Math.max(40, ...fig.bars.map((b) => textWidth(b.name) + 14)));
    const groups = new Set(fig.bars.map((b) => b.group ?? "")).size;
    const height = fig.bars.length * STEP + (grouped ? groups * HEAD : 0) + 6;
    const f: Frame = {x: round(margin), y: 8, w: round(view.width - margin - RIGHT - 6), h: height};
    const sx = scaleFor({...axis, scale: "linear"}, ends, Math.max(3, Math.floor(f.w / 90)), true);
    const shapes: Shape[] = [];
    const spots: Spot[] = [];
    const gap = el("g", {class: "parts"});
    const axis0: string[] = []; // not through the names of groups
    let y = f.y + 4;
    let group: string | undefined;
    bars.forEach(({bar, parts}, row) => {
        if (grouped && bar.group !== group) {
            group = bar.group;
            shapes.push(
                label(shorten(group ?? "", view.width - 10), 4, y + 15, {
                    "font-weight": 600,
                    class: "name halo",
                }),
            );
            y += HEAD;
        }
        axis0.push(`M${f.x} ${y - 4}v${STEP}`);
        shapes.push(dim(shorten(bar.name, margin - 12), f.x - 8, y + 13, "end"));
        const total = parts.reduce((sum, p) => sum + p.value, 0);
        for (const p of parts) {
            const x0 = f.x + Math.max(0, Math.min(1, sx.at(Math.min(p.from, p.to)))) * f.w;
            const x1 = f.x + Math.max(0, Math.min(1, sx.at(Math.max(p.from, p.to)))) * f.w;
            const at = names.indexOf(p.name);
            const ink = inkOf(inks[at] as number);
            const part = el("rect", {
                class: `part ${ink.className}`,
                x: round(x0),
                y,
                width: round(Math.max(0, x1 - x0)),
                height: THICK,
                fill: ink.colour,
                stroke: INK.ground,
                "stroke-width": 0.8,
            });
            const over = hatched(fig.id, at, part);
            gap.kids.push(part, ...(over ? [over] : []));
            const share =
                parts.length > 1 && total > 0 && p.value >= 0
                    ? `, ${number((100 * p.value) / total, 3)}\u00a0%`
                    : "";
            const whose = bar.group ? `${bar.group}, ${bar.name}` : bar.name;
            spots.push({
                x: x0,
                y,
                w: Math.max(1, x1 - x0),
                h: THICK,
                row,
                says: `${whose}, ${p.name}: ${quantity(p.value, unit)}${share}`,
            });
        }
        y += STEP;
    });
    const zero =
        sx.min < 0
            ? [
                  el("path", {
                      class: "axis",
                      stroke: INK.dim,
                      d: `M${round(f.x + sx.at(0) * f.w)} ${f.y}v${f.h}`,
                  }),
              ]
            : [];
    return {
        width: view.width,
        height: f.y + height + BOTTOM,
        plot: f,
        near: "inside",
        domain: {x: [sx.min, sx.max]},
        legend: names.length > 1 ? names.map((name, i) => ({key: name, name, k: inks[i] as number, at: i, form: "box"})) : [],
        shapes: [
            hatchDefs(fig.id, names.length),
            ...axisX(f, sx, axis),
            gap,
            el("path", {class: "axis", d: axis0.join("") || `M${f.x} ${f.y}v${f.h}`, stroke: INK.dim}),
            ...zero,
            ...shapes,
        ],
        spots: () => spots,
    };
}
