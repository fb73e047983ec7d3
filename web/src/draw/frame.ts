// frame.ts -- axes, grid and ticks around a plot.

import {named} from "../format";
import type {Axis} from "../document";
import type {Scale} from "../scale";
import {INK} from "./ink";
import {el, label, round, shorten, textWidth, type Shape} from "./tree";

export interface Frame {
    x: number;
    y: number;
    w: number;
    h: number;
}

export const TOP = 30; // the y axis' name stands above the plot
export const BOTTOM = 46;
export const RIGHT = 18;

export function grid(lines: string): Shape {
    return el("path", {class: "grid", d: lines, stroke: INK.grid, fill: "none"});
}

export function dim(text: string, x: number, y: number, anchor = "middle"): Shape {
    return label(text, x, y, {class: "dim", fill: INK.dim, "text-anchor": anchor});
}

// The width that the ticks of the y axis need on the left.
export function leftRoom(sy: Scale): number {
    return Math.max(34, 14 + Math.max(0, ...sy.ticks.map((t) => textWidth(sy.label(t)))));
}

export function axisY(f: Frame, sy: Scale, axis: Axis | undefined): Shape[] {
    let lines = "";
    const shapes: Shape[] = [];
    for (const t of sy.ticks) {
        const y = round(f.y + (1 - sy.at(t)) * f.h);
        lines += `M${f.x - 4} ${y}h${f.w + 4}`;
        shapes.push(dim(sy.label(t), f.x - 8, y + 4, "end"));
    }
    const name = named(axis?.label, sy.unit);
    return [grid(lines), ...shapes, label(name, Math.max(4, Math.min(f.x, 8)), f.y - 12, {class: "name"})];
}

export function axisX(f: Frame, sx: Scale, axis: Axis | undefined): Shape[] {
    let lines = "";
    const shapes: Shape[] = [];
    const last = {right: -Infinity};
    for (const t of sx.ticks) {
        const x = round(f.x + sx.at(t) * f.w);
        const text = sx.label(t);
        const half = textWidth(text) / 2;
        lines += `M${x} ${f.y}v${f.h + 4}`;
        if (x - half < last.right + 6) continue; // no two labels in one place
        last.right = x + half;
        shapes.push(dim(text, x, f.y + f.h + 19));
    }
    const name = named(axis?.label, sx.unit);
    shapes.push(label(name, f.x + f.w / 2, f.y + f.h + 40, {class: "name", "text-anchor": "middle"}));
    return [grid(lines), ...shapes];
}

export function border(f: Frame): Shape {
    return el("path", {
        class: "axis",
        d: `M${f.x} ${f.y}v${f.h}h${f.w}`,
        stroke: INK.dim,
        fill: "none",
    });
}

// Names under bands of equal width: turned where they are wider than their band, and more where they
// are long.
const LONGEST = 300;
const LINE = 13; // of text

function slant(names: string[], width: number): {turn: number; space: number; band: number} {
    const band = width / Math.max(1, names.length);
    const widest = Math.max(0, ...names.map((n) => textWidth(n)));
    if (widest <= band - 6) return {turn: 0, space: widest, band};
    return {turn: widest <= 110 ? 38 : 60, space: Math.min(widest, LONGEST), band};
}

const radians = (degrees: number) => (degrees * Math.PI) / 180;

// The width that the first of the names needs on the left of a plot that begins at `left`.
export function bandLeft(names: string[], left: number, width: number): number {
    const {turn, space, band} = slant(names, width - left - RIGHT);
    return turn ? Math.max(left, Math.ceil(Math.cos(radians(turn)) * space - band / 2 + 6)) : left;
}

export function bandNames(names: string[], f: Frame): {shapes: Shape[]; height: number} {
    const {turn, space, band} = slant(names, f.w);
    const y = f.y + f.h;
    if (!turn)
        return {
            shapes: names.map((n, i) => dim(n, f.x + band * (i + 0.5), y + 19)),
            height: 24,
        };
    const every = Math.ceil(LINE / (band * Math.sin(radians(turn)))); // no two names in one place
    return {
        shapes: names.flatMap((n, i) => {
            if (i % every) return [];
            const x = round(f.x + band * (i + 0.5) + 4);
            const s = dim(shorten(n, space), x, y + 14, "end");
            s.attrs["transform"] = `rotate(-${turn} ${x} ${round(y + 14)})`;
            return [s];
        }),
        height: Math.ceil(22 + space * Math.sin(radians(turn))),
    };
}
