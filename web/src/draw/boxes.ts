// boxes.ts -- box plots: whiskers from least to most, a box of the quartiles, the median, the mean.

import type {Box, BoxesFigure, Num} from "../document";
import {number, quantity} from "../format";
import {scaleFor, type Scale} from "../scale";
import {axisY, bandLeft, bandNames, border, leftRoom, RIGHT, TOP, type Frame} from "./frame";
import {INK, inkOf, inksOf, MARKS} from "./ink";
import type {Picture, Spot, View} from "./picture";
import {el, round, type Shape} from "./tree";

const HEIGHT = 300;

interface Stand {
    box: Box;
    k: number;
    mark: string; // of the mean: tells the name without colour
    x: number; // middle
    w: number;
    row: number;
}

const groupOf = (b: Box) => b.group ?? "";

// Without groups every box stands over its own name.
function standAlone(fig: BoxesFigure): BoxesFigure {
    const one = new Set(fig.boxes.map(groupOf)).size === 1;
    return one ? {...fig, boxes: fig.boxes.map((b) => ({...b, group: b.name}))} : fig;
}

// Boxes of one group stand side by side; the same name has the same ink everywhere.
function stand(fig: BoxesFigure, names: string[], groups: string[], hidden: Set<string>, f: Frame): Stand[] {
    const inks = inksOf(fig, names);
    const alone = groups.every((g, i) => g === names[i]);
    const shown = alone ? [] : names.filter((n) => !hidden.has(n));
    const band = f.w / Math.max(1, groups.length);
    const w = Math.min(46, (band * 0.8) / Math.max(1, shown.length));
    return fig.boxes
        .filter((b) => !hidden.has(b.name))
        .map((box) => {
            const row = groups.indexOf(groupOf(box));
            const at = alone ? 0 : shown.indexOf(box.name) - (shown.length - 1) / 2;
            const k = names.indexOf(box.name);
            return {box, k: inks[k] as number, mark: MARKS[k % MARKS.length] as string, x: f.x + band * (row + 0.5) + at * w, w: w * 0.78, row};
        });
}

function boxShape(s: Stand, f: Frame, sy: Scale): Shape {
    const ink = inkOf(s.k);
    const y = (v: Num | undefined) => {
        const at = sy.at(v);
        return Number.isNaN(at) ? NaN : round(f.y + (1 - Math.max(0, Math.min(1, at))) * f.h);
    };
    const [low, q1, median, q3, high, mean] = [
        s.box.min,
        s.box.q1,
        s.box.median,
        s.box.q3,
        s.box.max,
        s.box.mean,
    ].map(y) as [number, number, number, number, number, number];
    const left = round(s.x - s.w / 2);
    const cap = round(s.w / 4);
    const x = round(s.x);
    const floor = f.y + f.h;
    const base = Number.isNaN(low) ? floor : low;
    const kids: (Shape | null)[] = [];
    const many = s.box.n !== 1; // one value has no quartiles: its mark is all
    if (many && !Number.isNaN(high))
        kids.push(
            el("path", {
                class: "bar",
                fill: "none",
                "stroke-width": 1.4,
                d: `M${x} ${base}V${Number.isNaN(q1) ? high : q1}M${x} ${Number.isNaN(q3) ? high : q3}V${high}M${round(x - cap)} ${base}h${cap * 2}M${round(x - cap)} ${high}h${cap * 2}`,
            }),
        );
    if (many && !Number.isNaN(q1 + q3))
        kids.push(
            el("rect", {
                class: "box",
                x: left,
                y: q3,
                width: round(s.w),
                height: Math.max(1, round(q1 - q3)),
                "fill-opacity": 0.25,
                "stroke-width": 1.4,
            }),
        );
    if (many && !Number.isNaN(median))
        kids.push(
            el("path", {
                class: "bar",
                d: `M${left} ${median}h${round(s.w)}`,
                "stroke-width": 2.6,
                fill: "none",
            }),
        );
    if (!Number.isNaN(mean))
        kids.push(
            el("path", {
                class: "mark open",
                d: s.mark,
                transform: `translate(${x} ${mean})`,
                fill: INK.ground,
                "stroke-width": 1.4,
            }),
        );
    return el("g", {class: ink.className, fill: ink.colour, stroke: ink.colour}, kids);
}

export function tellsBox(b: Box, unit: string): string {
    const q = (v: Num | undefined) => quantity(v, unit);
    const whose = groupOf(b) && groupOf(b) !== b.name ? `${groupOf(b)}, ${b.name}` : b.name;
    const mean = typeof b.mean === "number" ? `, mean ${q(b.mean)}` : "";
    const n = typeof b.n === "number" ? `, of ${number(b.n, 9)}` : "";
    if (b.n === 1) return `${whose}: ${q(b.median)}`;
    return `${whose}: median ${q(b.median)}, quartiles ${q(b.q1)} and ${q(b.q3)}, from ${q(b.min)} to ${q(b.max)}${mean}${n}`;
}

export function drawBoxes(given: BoxesFigure, view: View): Picture {
    const fig = standAlone(given);
    const names = [...new Set(fig.boxes.map((b) => b.name))];
    const groups = [...new Set(fig.boxes.map(groupOf))];
    const shown = fig.boxes.filter((b) => !view.hidden.has(b.name));
    const values = shown.flatMap((b) => [b.min, b.q1, b.median, b.q3, b.max, b.mean ?? null]);
    const axis =
        view.yLog === undefined
            ? fig.y
            : {...fig.y, scale: view.yLog ? ("log" as const) : ("linear" as const)};
    const sy = scaleFor(axis, values, 6, true);
    const left = bandLeft(groups, leftRoom(sy), view.width);
    const f: Frame = {x: round(left), y: TOP, w: round(view.width - left - RIGHT), h: HEIGHT};
    const stands = stand(fig, names, groups, view.hidden, f);
    const under = bandNames(groups, f);
    return {
        width: view.width,
        height: TOP + HEIGHT + under.height + 8,
        plot: f,
        near: "xy",
        domain: {y: [sy.min, sy.max]},
        legend: inksOf(fig, names).map((k, i) => ({
            key: names[i] as string,
            name: names[i] as string,
            k,
            at: i,
            form: "whiskers",
        })),
        shapes: [...axisY(f, sy, axis), border(f), ...under.shapes, ...stands.map((s) => boxShape(s, f, sy))],
        spots: () =>
            stands.map((s): Spot => {
                const top = sy.at(s.box.max);
                const bottom = sy.at(s.box.min);
                const y = f.y + (1 - (Number.isNaN(top) ? 1 : Math.min(1, top))) * f.h;
                const end = f.y + (1 - (Number.isNaN(bottom) ? 0 : Math.max(0, bottom))) * f.h;
                return {
                    x: s.x - s.w / 2 - 2,
                    y: y - 3,
                    w: s.w + 4,
                    h: Math.max(6, end - y + 6),
                    row: 0,
                    says: tellsBox(s.box, fig.y.unit ?? ""),
                };
            }),
    };
}
