// matrix.ts -- bytes sent by each row to each column: one cell for each row and column.
//
// Cells of one colour are one path: 128 by 128 of them are nine elements, not sixteen thousand.

import type {MatrixFigure} from "../document";
import {quantity} from "../format";
import {extent} from "../scale";
import {dim} from "./frame";
import {heatStep, INK} from "./ink";
import type {Picture, Spot, View} from "./picture";
import {el, label, round, shorten, textWidth, type Shape} from "./tree";

interface Lay {
    x: number;
    y: number;
    cell: number;
}

function cells(fig: MatrixFigure, lay: Lay, fraction: (v: number) => number): Shape[] {
    const paths = INK.heat.map(() => "");
    const c = round(lay.cell);
    fig.values.forEach((v, i) => {
        if (typeof v !== "number" || v === 0) return;
        const step = heatStep(fraction(v));
        const col = i % fig.cols.length;
        const row = Math.floor(i / fig.cols.length);
        paths[step] += `M${round(lay.x + col * lay.cell)} ${round(lay.y + row * lay.cell)}h${c}v${c}h-${c}z`;
    });
    return paths.map((d, i) => (d ? el("path", {class: `h${i} heat`, d, fill: INK.heat[i]}) : el("g")));
}

function ends(names: string[], lay: Lay, across: boolean): Shape[] {
    const step = across ? 13 : 15; // between two names
    const every = Math.max(
        1,
        Math.ceil((across ? Math.max(step, ...names.map((n) => textWidth(n, 11) + 6)) : step) / lay.cell),
    );
    return names.flatMap((n, i) => {
        if (i % every) return [];
        const at = (across ? lay.x : lay.y) + (i + 0.5) * lay.cell;
        const s = across
            ? dim(shorten(n, 120, 11), at, lay.y - 6)
            : dim(shorten(n, 90, 11), lay.x - 6, at + 4, "end");
        s.attrs["font-size"] = 11;
        return [s];
    });
}

function upright(text: string, x: number, y: number): Shape {
    return label(text, x, y, {
        class: "name",
        "text-anchor": "middle",
        transform: `rotate(-90 ${x} ${round(y)})`,
    });
}

// The least and the largest amount, here and in the figure beside it.
function range(fig: MatrixFigure): [number, number] {
    const sizes = [...fig.values, ...(fig.beside?.values ?? [])].map((v) =>
        v === null ? null : Math.abs(v),
    );
    return extent(sizes, true) ?? [1, 1];
}

// Whether colours are logarithmic unless the reader chooses.
export function wideMatrix(fig: MatrixFigure): boolean {
    const [least, most] = range(fig);
    return most / least > 100; // as the pictures of weir report
}

export function drawMatrix(fig: MatrixFigure, view: View): Picture {
    const rows = fig.rows.length;
    const cols = fig.cols.length;
    const left = Math.min(96, Math.max(24, ...fig.rows.map((n) => textWidth(n, 11) + 10))) + 18;
    const wide = Math.min(view.width - left - 20, 560);
    const cell = Math.max(2, Math.min(40, wide / Math.max(cols, rows)));
    const lay: Lay = {x: round(Math.max(left, (view.width - cell * cols) / 2)), y: 44, cell};
    const bottom = lay.y + rows * cell;
    const [least, most] = range(fig);
    const log = view.yLog ?? wideMatrix(fig);
    const fraction = (v: number) =>
        log && most > least ? Math.log(Math.abs(v) / least) / Math.log(most / least) : Math.abs(v) / most;
    const unit = fig.unit ?? "";
    const key = Math.min(34, (view.width - 200) / INK.heat.length);
    const kx = (view.width - key * INK.heat.length) / 2;
    const tall = bottom + 16;
    return {
        width: view.width,
        height: tall + 34,
        plot: {x: lay.x, y: lay.y, w: cols * cell, h: rows * cell},
        near: "inside",
        legend: [],
        shapes: [
            el("rect", {
                class: "ground-edge",
                x: lay.x,
                y: lay.y,
                width: round(cols * cell),
                height: round(rows * cell),
                fill: "none",
                stroke: INK.grid,
            }),
            ...cells(fig, lay, fraction),
            ...ends(fig.cols, lay, true),
            ...ends(fig.rows, lay, false),
            label(fig.x?.label ?? "", lay.x + (cols * cell) / 2, 16, {
                class: "name",
                "text-anchor": "middle",
            }),
            upright(fig.y?.label ?? "", round(lay.x - left + 12), lay.y + (rows * cell) / 2),
            ...INK.heat.map((colour, i) =>
                el("rect", {
                    class: `h${i} heat`,
                    x: round(kx + i * key),
                    y: tall,
                    width: round(key - 1),
                    height: 10,
                    fill: colour,
                }),
            ),
            dim(log ? quantity(least, unit, 3) : "0", kx - 6, tall + 10, "end"),
            dim(quantity(most, unit, 3), kx + key * INK.heat.length + 4, tall + 10, "start"),
            dim(log ? "logarithmic colours; empty: nothing" : "empty: nothing", view.width / 2, tall + 27),
        ],
        spots: () =>
            fig.values.slice(0, rows * cols).map((v, i): Spot => {
                const row = Math.floor(i / cols);
                const col = i % cols;
                const from = `${fig.y?.label ?? "row"} ${fig.rows[row]}`;
                const to = `${fig.x?.label ?? "column"} ${fig.cols[col]}`;
                return {
                    x: lay.x + col * cell,
                    y: lay.y + row * cell,
                    w: cell,
                    h: cell,
                    row,
                    says: `${from}, ${to}: ${quantity(v, unit)}`,
                };
            }),
    };
}
