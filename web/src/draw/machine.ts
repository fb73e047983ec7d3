// machine.ts -- the machine: groups where the document places them, links coloured by load.
//
//   group    a disc divided over its jobs; around it a ring for the links within it
//   link     a curve between two groups, bent to the middle; thicker and darker with its load
//
// Colours mean the same in all slices, so that moving the slider shows what changes.

import type {MachineFigure, MachineGroup, MachineLink, Num} from "../document";
import {number, quantity} from "../format";
import {niceStep} from "../scale";
import {mean} from "../stat";
import {dim} from "./frame";
import {hatchDefs, hatched, heatStep, INK, inkOf, inksOf} from "./ink";
import type {LegendEntry, Picture, Spot, View} from "./picture";
import {el, label, round, shorten, type Shape} from "./tree";

interface Put {
    group: MachineGroup;
    x: number;
    y: number;
    angle: number;
}

export function percent(fraction: Num | undefined): string {
    return typeof fraction === "number" && Number.isFinite(fraction)
        ? `${number(fraction * 100, 4)}\u00a0%`
        : "\u2013";
}

// What a link shows in this view: one slice, or the mean of all.
export function linkValue(link: MachineLink, view: View): number {
    const values = (view.show === "sat" ? link.sat : link.load) ?? [];
    const v = view.slice >= 0 ? values[view.slice] : mean(values);
    return typeof v === "number" && Number.isFinite(v) ? v : NaN;
}

// Where the colours end: 1, 2 or 5 times a power of ten, so that half the colours are not half a number.
function top(most: number): number {
    if (!(most > 0)) return 0;
    return most <= 1 ? Math.min(1, niceStep(most, 1)) : niceStep(most, 1);
}

export function mostOf(fig: MachineFigure, view: View): number {
    let most = fig.beside ? mostOf({...fig.beside, beside: undefined}, view) : 0;
    for (const link of fig.links)
        if (view.slice >= 0)
            for (const v of (view.show === "sat" ? link.sat : link.load) ?? []) most = Math.max(most, v ?? 0);
        else most = Math.max(most, linkValue(link, view) || 0);
    return most;
}

function place(fig: MachineFigure, width: number, size: number, radius: number): Put[] {
    const n = fig.groups.length;
    const reach = size / 2 - radius - 26;
    return fig.groups.map((group, i) => {
        const turn = (i / Math.max(1, n)) * 2 * Math.PI - Math.PI / 2;
        const x = typeof group.x === "number" ? group.x : Math.cos(turn);
        const y = typeof group.y === "number" ? group.y : Math.sin(turn);
        return {
            group,
            x: round(width / 2 + x * reach),
            y: round(size / 2 + y * reach),
            angle: Math.atan2(y, x),
        };
    });
}

function slice(x: number, y: number, r: number, from: number, to: number): string {
    if (to - from > 0.9999)
        return `M${round(x - r)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0-${2 * r} 0z`;
    const a = from * 2 * Math.PI - Math.PI / 2;
    const b = to * 2 * Math.PI - Math.PI / 2;
    const at = (angle: number) => `${round(x + r * Math.cos(angle))} ${round(y + r * Math.sin(angle))}`;
    return `M${x} ${y}L${at(a)}A${r} ${r} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(b)}z`;
}

// How the picture `id` draws jobs: their names in order, and their colours.
interface Jobs {
    id: string;
    names: string[];
    inks: number[];
}

function groupShapes(p: Put, r: number, jobs: Jobs, hidden: Set<string>): Shape[] {
    const ofJob = (name: string) => inkOf(jobs.inks[jobs.names.indexOf(name)] as number);
    const inside = (p.group.jobs ?? []).filter((j) => !hidden.has(`job:${j.name}`));
    const total = inside.reduce((sum, j) => sum + (j.ranks ?? 1), 0);
    const most = inside.reduce((a, j) => ((j.ranks ?? 1) > (a?.ranks ?? 0) ? j : a), inside[0]);
    const rim = most ? ofJob(most.name) : {className: "guide", colour: INK.dim};
    const circle = {cx: p.x, cy: p.y, r, fill: "#f4f4f4", stroke: rim.colour, "stroke-width": 1.5};
    const shapes: Shape[] = [el("circle", {class: `group ${rim.className}`, ...circle})];
    let from = 0;
    for (const j of inside) {
        const to = from + (j.ranks ?? 1) / (total || 1);
        const ink = ofJob(j.name);
        const part = el("path", {
            class: `part ${ink.className}`,
            d: slice(p.x, p.y, round(r - 1.5), from, to),
            fill: ink.colour,
            "fill-opacity": 0.8,
        });
        const over = hatched(jobs.id, jobs.names.indexOf(j.name), part);
        shapes.push(part, ...(over ? [over] : []));
        from = to;
    }
    return shapes;
}

// Points along the bent line from one group to another; also where the pointer looks for it.
function curve(a: Put, b: Put, cx: number, cy: number, bend: number): {d: string; path: [number, number][]} {
    const mx = (a.x + b.x) / 2;
    const my = (a.y + b.y) / 2;
    const qx = mx + (cx - mx) * bend - (b.y - a.y) * 0.05;
    const qy = my + (cy - my) * bend + (b.x - a.x) * 0.05;
    const path: [number, number][] = [];
    for (let i = 0; i <= 8; i++) {
        const t = i / 8;
        const u = 1 - t;
        path.push([u * u * a.x + 2 * u * t * qx + t * t * b.x, u * u * a.y + 2 * u * t * qy + t * t * b.y]);
    }
    return {d: `M${a.x} ${a.y}Q${round(qx)} ${round(qy)} ${b.x} ${b.y}`, path};
}

function heatKey(most: number, what: string, width: number, y: number): Shape[] {
    const cell = Math.min(34, (width - 120) / INK.heat.length);
    const x = (width - cell * INK.heat.length) / 2;
    const shapes = INK.heat.map((colour, i) =>
        el("rect", {
            class: `h${i} heat`,
            x: round(x + i * cell),
            y,
            width: round(cell - 1),
            height: 10,
            fill: colour,
            stroke: INK.dim,
            "stroke-width": 0.3,
        }),
    );
    shapes.push(
        dim("0", x - 6, y + 10, "end"),
        dim(percent(most), x + cell * INK.heat.length + 4, y + 10, "start"),
    );
    shapes.push(dim(what, width / 2, y + 26));
    return shapes;
}

function tellsLink(fig: MachineFigure, link: MachineLink, view: View): string {
    const name = (id: number | string) => fig.groups.find((g) => g.id === id)?.label ?? `group ${id}`;
    const where = link.a === link.b ? `within ${name(link.a)}` : `${name(link.a)} to ${name(link.b)}`;
    const many =
        typeof link.n === "number" && link.n > 1 ? `${link.n} ${link.class} links ` : `${link.class} link `;
    const at = (values: Num[] | undefined) =>
        percent(!values ? null : view.slice >= 0 ? values[view.slice] : mean(values));
    const sat = link.sat ? `, saturated ${at(link.sat)}` : "";
    return `${many}${where}: busy ${at(link.load)}${sat}`;
}

function tellsGroup(fig: MachineFigure, g: MachineGroup, view: View): string {
    const jobs = (g.jobs ?? []).map((j) =>
        typeof j.ranks === "number" ? `${j.name} ${j.ranks} ranks` : j.name,
    );
    const own = fig.links.filter((l) => l.a === g.id && l.b === g.id).map((l) => tellsLink(fig, l, view));
    return [`${g.label}: ${jobs.length ? jobs.join(", ") : "no job"}`, ...own].join("; ");
}

function linkShapes(
    fig: MachineFigure,
    view: View,
    puts: Map<number | string, Put>,
    radius: number,
    most: number,
    size: number,
): {shapes: Shape[]; spots: Spot[]} {
    const drawn: {value: number; shape: Shape; spot: Spot | null}[] = [];
    const rings = new Map<number | string, number>();
    // Many groups have many links: thinner ones, or nothing is seen between them.
    const thin = puts.size > 20 ? 0.4 : 0.7;
    const thick = Math.min(3.6, 50 / Math.max(1, puts.size));
    const bend = puts.size > 2 ? 0.45 : 0.2;
    for (const link of fig.links) {
        const a = puts.get(link.a);
        const b = puts.get(link.b);
        if (!a || !b || view.hidden.has(`class:${link.class}`)) continue;
        const value = linkValue(link, view);
        const step = heatStep(most > 0 ? value / most : 0);
        const ink = {class: `h${step} flow`, stroke: INK.heat[step] ?? INK.grid, fill: "none"};
        if (a === b) {
            const ring = rings.get(link.a) ?? 0;
            rings.set(link.a, ring + 1);
            const shape = el("circle", {
                ...ink,
                cx: a.x,
                cy: a.y,
                r: round(radius + 3 + ring * 4),
                "stroke-width": 3.4,
            });
            drawn.push({value: Infinity, shape, spot: null}); // its group tells of it
            continue;
        }
        const {d, path} = curve(a, b, view.width / 2, size / 2, bend);
        const width = round(thin + thick * (most > 0 && value > 0 ? value / most : 0));
        const middle = path[4] as [number, number];
        drawn.push({
            value: Number.isNaN(value) ? -1 : value,
            shape: el("path", {...ink, d, "stroke-width": width}),
            spot: {x: middle[0], y: middle[1], path, row: 1, says: tellsLink(fig, link, view)},
        });
    }
    drawn.sort((p, q) => p.value - q.value); // what is busiest lies on top
    const spots = drawn.flatMap((d) => (d.spot ? [d.spot] : [])).reverse();
    return {shapes: drawn.map((d) => d.shape), spots};
}

export function drawMachine(fig: MachineFigure, view: View): Picture {
    const size = Math.max(260, Math.min(view.width - 10, 600));
    const n = Math.max(1, fig.groups.length);
    const radius = round(Math.max(5, Math.min(26, (size * 0.9) / n)));
    const puts = place(fig, view.width, size, radius);
    const jobs = [...new Set(fig.groups.flatMap((g) => (g.jobs ?? []).map((j) => j.name)))];
    const classes = [...new Set(fig.links.map((l) => l.class))];
    const most = top(mostOf(fig, view));
    const byId = new Map(puts.map((p) => [p.group.id, p]));
    const links = linkShapes(fig, view, byId, radius, most, size);
    const sliced = (fig.slices?.n ?? 1) > 1;
    const when = !sliced
        ? ""
        : view.slice < 0
          ? ", mean of all slices"
          : `, slice ${view.slice + 1} of ${fig.slices?.n}`;
    const rings = fig.links.some((l) => l.a === l.b) ? "; rings: links within a group" : "";
    const what = (view.show === "sat" ? "time saturated" : "time busy") + when + rings;
    const names: Shape[] = [];
    puts.forEach((p) => {
        const inner = shorten(p.group.label.replace(/^group\s+/i, ""), radius * 1.8, 11);
        const far = radius + 14 + (n > 40 ? 0 : 4);
        if (n <= 80)
            names.push(
                label(inner, p.x + Math.cos(p.angle) * far, p.y + Math.sin(p.angle) * far + 4, {
                    class: "halo",
                    "text-anchor": "middle",
                    "font-size": 11,
                }),
            );
    });
    const inks = inksOf(fig, jobs);
    const legend: LegendEntry[] = [
        ...jobs.map((name, at): LegendEntry => ({key: `job:${name}`, name, k: inks[at] as number, at, form: "box"})),
        ...(classes.length > 1
            ? classes.map((c, k): LegendEntry => ({key: `class:${c}`, name: `${c} links`, k, at: 0, form: "guide"}))
            : []),
    ];
    return {
        width: view.width,
        height: size + 40,
        plot: {x: 0, y: 0, w: view.width, h: size},
        near: "xy",
        legend,
        shapes: [
            hatchDefs(fig.id, jobs.length),
            ...links.shapes.filter((s) => s.tag === "path"),
            ...links.shapes.filter((s) => s.tag === "circle"),
            ...puts.flatMap((p) => groupShapes(p, radius, {id: fig.id, names: jobs, inks}, view.hidden)),
            ...names,
            ...heatKey(most, what, view.width, size + 4),
        ],
        spots: () => [
            ...puts.map((p): Spot => ({
                x: p.x - radius,
                y: p.y - radius,
                w: radius * 2,
                h: radius * 2,
                row: 0,
                says: tellsGroup(fig, p.group, view),
            })),
            ...links.spots,
        ],
    };
}

// The time a slice covers, for the slider.
export function sliceName(fig: MachineFigure, i: number): string {
    const {n = 1, dt_ns = 0} = fig.slices ?? {};
    if (i < 0) return "mean of all slices";
    return `slice ${i + 1} of ${n}: ${quantity(i * dt_ns, "ns")} to ${quantity((i + 1) * dt_ns, "ns")}`;
}
