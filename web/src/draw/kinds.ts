// kinds.ts -- the kinds of figures there are: who draws each, and what its data are as a table.
//
// A new kind is a file that draws, a type in document.ts and a row here.

import type {Cell, Figure, LinesFigure, Num, Table} from "../document";
import {drawBars} from "./bars";
import {drawBoxes} from "./boxes";
import {drawLines} from "./lines";
import {drawMachine} from "./machine";
import {drawMatrix} from "./matrix";
import type {Picture, View} from "./picture";
import {drawSequence} from "./sequence";

type Of<K extends Figure["kind"]> = Extract<Figure, {kind: K}>;

interface Kind<K extends Figure["kind"]> {
    draw(fig: Of<K>, view: View): Picture;
    columns: string[];
    rows(fig: Of<K>): Cell[][];
}

function lineRows(fig: LinesFigure): Cell[][] {
    const at = (values: Num[] | undefined, i: number): Num => values?.[i] ?? null;
    return fig.series.flatMap((s) => s.x.map((x, i) => [s.name, x, at(s.y, i), at(s.low, i), at(s.high, i)]));
}

const kinds: {[K in Figure["kind"]]: Kind<K>} = {
    lines: {draw: drawLines, columns: ["series", "x", "y", "low", "high"], rows: lineRows},
    boxes: {
        draw: drawBoxes,
        columns: ["group", "name", "n", "min", "q1", "median", "q3", "max", "mean"],
        rows: (f) =>
            f.boxes.map((b) => [
                b.group ?? "",
                b.name,
                b.n ?? null,
                b.min,
                b.q1,
                b.median,
                b.q3,
                b.max,
                b.mean ?? null,
            ]),
    },
    bars: {
        draw: drawBars,
        columns: ["group", "name", "part", "value"],
        rows: (f) => f.bars.flatMap((b) => b.parts.map((p) => [b.group ?? "", b.name, p.name, p.value])),
    },
    machine: {
        draw: drawMachine,
        columns: ["a", "b", "class", "slice", "load", "saturated"],
        rows: (f) =>
            f.links.flatMap((l) => l.load.map((v, i) => [l.a, l.b, l.class, i, v, l.sat?.[i] ?? null])),
    },
    matrix: {
        draw: drawMatrix,
        columns: ["row", "col", "value"],
        rows: (f) =>
            f.values.map((v, i) => [
                f.rows[Math.floor(i / f.cols.length)] ?? "",
                f.cols[i % f.cols.length] ?? "",
                v,
            ]),
    },
    sequence: {
        draw: drawSequence,
        columns: ["t0", "t1", "lane", "to", "label", "class"],
        rows: (f) =>
            f.steps.map((s) => [
                s.t0,
                s.t1,
                f.lanes[s.lane] ?? s.lane,
                typeof s.to === "number" ? (f.lanes[s.to] ?? s.to) : null,
                s.label,
                s.class ?? "",
            ]),
    },
};

export function known(fig: Figure): boolean {
    return fig.kind in kinds;
}

export function draw(fig: Figure, view: View): Picture {
    return (kinds[fig.kind] as Kind<Figure["kind"]>).draw(fig as never, view);
}

// The figure's data, where it names no table that has them.
export function dataOf(fig: Figure): Table {
    const kind = kinds[fig.kind] as Kind<Figure["kind"]>;
    return {
        id: `${fig.id}-data`,
        title: fig.title,
        columns: kind.columns.map((name) => ({name})),
        rows: kind.rows(fig as never),
    };
}
