// file.ts -- a figure as an SVG file fit for a paper: light ground, title, legend, no style sheet.

import type {Figure} from "../document";
import {hatchDef, hatched, INK, inkOf, MARKS, seriesInk} from "./ink";
import {draw} from "./kinds";
import type {LegendEntry, View} from "./picture";
import {el, label, round, textWidth, toText, type Shape} from "./tree";

let swatches = 0; // a pattern needs a name of its own

export function swatch(e: LegendEntry): Shape {
    const marked = e.form === "curve" || e.form === "marks";
    const ink = {...seriesInk(e.k, e.at, marked, e.form === "guide")};
    const kids: (Shape | null)[] = [];
    const box = {x: 4, y: -7, width: 20, height: 14};
    if (e.form === "box") {
        const part = el("rect", {class: "part", ...box, fill: inkOf(e.k).colour, stroke: "none"});
        const id = `swatch-${++swatches}`;
        kids.push(hatchDef(id, e.at), part, hatched(id, e.at, part));
    } else if (e.form === "whiskers") {
        const mark = {d: ink.mark, transform: "translate(14 0)", fill: INK.ground, "stroke-width": 1.4};
        kids.push(el("rect", {class: "box", ...box, "fill-opacity": 0.25, "stroke-width": 1.4}));
        kids.push(el("path", {class: "mark open", ...mark}));
    } else if (e.form !== "marks")
        kids.push(
            el("path", {
                class: "line",
                d: "M0 0h28",
                "stroke-width": e.form === "guide" ? 1.2 : 2,
                "stroke-dasharray": ink.dash,
                fill: "none",
            }),
        );
    if (marked)
        kids.push(
            el("path", {
                class: "mark",
                d: ink.mark ?? MARKS[0],
                transform: "translate(14 0)",
                "stroke-width": 1.6,
            }),
        );
    return el("g", {class: ink.className, fill: ink.colour, stroke: ink.colour}, kids);
}

function legendRows(
    entries: LegendEntry[],
    note: string | undefined,
    width: number,
    top: number,
): {shapes: Shape[]; height: number} {
    let x = 12;
    let y = top;
    const shapes: Shape[] = [];
    for (const e of entries) {
        const w = 50 + textWidth(e.name);
        if (x > 12 && x + w > width - 12) [x, y] = [12, y + 20];
        const mark = swatch(e);
        mark.attrs["transform"] = `translate(${round(x)} ${y})`;
        shapes.push(mark, label(e.name, x + 34, y + 4));
        x += w;
    }
    if (note) {
        if (x > 12 && x + textWidth(note) > width - 12) [x, y] = [12, y + 20];
        shapes.push(label(note, x, y + 4, {fill: INK.dim}));
    }
    return {shapes, height: shapes.length ? y - top + 24 : 0};
}

// What has to be explained: one curve or box is what the title says, a band is not.
export function legendOf(fig: Figure, legend: LegendEntry[]): LegendEntry[] {
    const plain =
        (fig.kind === "lines" && fig.series.every((s) => s.style !== "fan")) || fig.kind === "boxes";
    return plain && legend.length < 2 ? [] : legend;
}

export function svgFile(fig: Figure, view: View): string {
    const width = 720;
    const picture = draw(fig, {...view, width});
    const shown = picture.legend.filter((e) => !view.hidden.has(e.key));
    const legend = legendRows(legendOf(fig, shown), picture.note, width, 46);
    const top = 34 + legend.height;
    const height = Math.ceil(top + picture.height);
    const root = el(
        "svg",
        {
            xmlns: "http://www.w3.org/2000/svg",
            width,
            height,
            viewBox: `0 0 ${width} ${height}`,
            "font-family": "Helvetica, Arial, 'DejaVu Sans', sans-serif",
            "font-size": 13,
            fill: INK.text,
        },
        [
            {tag: "title", attrs: {}, kids: [], text: fig.title},
            {tag: "desc", attrs: {}, kids: [], text: fig.desc ?? ""},
            el("rect", {width: "100%", height: "100%", fill: INK.ground}),
            label(fig.title, 12, 24, {"font-size": 16, "font-weight": 600}),
            ...legend.shapes,
            el("g", {transform: `translate(0 ${top})`}, picture.shapes),
        ],
    );
    return `<?xml version="1.0" encoding="UTF-8"?>\n${toText(root)}\n`;
}
