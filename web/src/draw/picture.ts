// picture.ts -- what every drawing gives back, and what it is told.
//
//   figure + view --draw--> picture: shapes, and the spots one can point at
//
// Hovering and the arrow keys both go from spot to spot, and what a spot says is what is read out. So
// whoever draws a kind of figure says nothing about mice, keys or screen readers.

import type {Shape} from "./tree";

export interface Spot {
    x: number; // where it is marked, in the picture's pixels
    y: number;
    w?: number; // with a size: a rectangle from x, y; otherwise a point
    h?: number;
    path?: [number, number][]; // a line that is pointed at anywhere along it
    row: number; // up and down go from row to row, left and right within one
    says: string; // read out: name and numbers
}

export interface LegendEntry {
    key: string; // what toggling hides
    name: string;
    k: number; // its ink
    at: number; // its place in the figure, which tells it apart without colour
    form: "curve" | "line" | "marks" | "guide" | "box" | "whiskers";
}

export interface Picture {
    width: number;
    height: number;
    shapes: Shape[];
    spots: () => Spot[];
    legend: LegendEntry[];
    note?: string | undefined; // stands beside the legend
    near: "x" | "xy" | "inside"; // how the spot under the pointer is found
    domain?: {x?: [number, number]; y?: [number, number]}; // what the axes span
    plot: {x: number; y: number; w: number; h: number};
}

export interface View {
    width: number;
    hidden: Set<string>;
    slice: number; // of a machine; -1: all slices together
    show: string; // of a machine: "load" or "sat"
    xLog: boolean | undefined; // undefined: as the document says
    yLog: boolean | undefined;
}

export function defaultView(width = 720): View {
    return {width, hidden: new Set(), slice: -1, show: "load", xLog: undefined, yLog: undefined};
}

// The square of the distance to the nearest point of a line.
function toPath(path: [number, number][], x: number, y: number): number {
    let least = Infinity;
    for (let i = 1; i < path.length; i++) {
        const [ax, ay] = path[i - 1] as [number, number];
        const [bx, by] = path[i] as [number, number];
        const [ux, uy] = [bx - ax, by - ay];
        const along = Math.max(0, Math.min(1, ((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy || 1)));
        const [dx, dy] = [ax + along * ux - x, ay + along * uy - y];
        least = Math.min(least, dx * dx + dy * dy);
    }
    return least;
}

// The spot at a place of the picture: the one that holds it, or the nearest within `reach` pixels.
export function spotAt(
    spots: Spot[],
    near: Picture["near"],
    x: number,
    y: number,
    reach = near === "x" ? 90 : 40,
): number {
    let best = -1;
    let least = near === "inside" ? 0.5 : reach * reach;
    spots.forEach((s, i) => {
        if (s.w !== undefined && s.h !== undefined) {
            const dx = Math.max(s.x - x, 0, x - s.x - s.w);
            const dy = Math.max(s.y - y, 0, y - s.y - s.h);
            const d = dx * dx + dy * dy;
            if (d < least || (d === least && d === 0)) [best, least] = [i, d];
            return;
        }
        if (s.path) {
            const d = toPath(s.path, x, y);
            if (d < Math.min(least, 100)) [best, least] = [i, d];
            return;
        }
        const dx = s.x - x;
        const dy = s.y - y;
        // Along a curve the nearest x counts most; between curves the nearest y decides.
        const d = near === "x" ? dx * dx + dy * dy * 0.05 : dx * dx + dy * dy;
        if (d < least) [best, least] = [i, d];
    });
    return best;
}

// The spot an arrow key leads to.
export function spotBeside(spots: Spot[], from: number, dx: number, dy: number): number {
    const here = spots[from];
    if (!here) return spots.length ? 0 : -1;
    if (dx) {
        for (let i = from + dx; i >= 0 && i < spots.length; i += dx)
            if ((spots[i] as Spot).row === here.row) return i;
        return from;
    }
    const rows = [...new Set(spots.map((s) => s.row))].sort((a, b) => a - b);
    const row = rows[rows.indexOf(here.row) + dy];
    if (row === undefined) return from;
    let best = from;
    let least = Infinity;
    spots.forEach((s, i) => {
        if (s.row === row && Math.abs(s.x - here.x) < least) [best, least] = [i, Math.abs(s.x - here.x)];
    });
    return best;
}
