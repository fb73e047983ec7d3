// state.ts -- what is shown, as text behind the # of the address, so that a link shows the same.
//
//   #view=report&run=a.weir&section=links&f.machine=s3,wsat
//
// What is not said is as usual; what is not understood is passed over, as links may be old.

import type {View} from "../draw/picture";

export type ViewName = "runs" | "report" | "compare" | "study";

export interface State {
    view: ViewName;
    runs: string[]; // shown together, or side by side
    dir: string; // of a study
    section: string;
    filter: Record<string, string>; // q, kind, status, study
    figures: Map<string, Partial<View>>;
}

const VIEWS: ViewName[] = ["runs", "report", "compare", "study"];
export const FILTERS = ["q", "kind", "status", "study"] as const;

export function emptyState(view: ViewName = "runs"): State {
    return {view, runs: [], dir: "", section: "", filter: {}, figures: new Map()};
}

// A figure's view in few letters: h hidden names, s slice, w what links show, x and y logarithmic or not.
export function writeView(v: Partial<View>): string {
    const parts: string[] = [];
    for (const name of v.hidden ?? []) parts.push("h" + encodeURIComponent(name).replace(/,/g, "%2C"));
    if ((v.slice ?? -1) >= 0) parts.push(`s${v.slice}`);
    if (v.show === "sat") parts.push("wsat");
    if (v.xLog !== undefined) parts.push(v.xLog ? "x1" : "x0");
    if (v.yLog !== undefined) parts.push(v.yLog ? "y1" : "y0");
    return parts.join(",");
}

function decode(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

export function readView(text: string): Partial<View> {
    const v: Partial<View> = {};
    const readers: Record<string, (rest: string) => void> = {
        h: (rest) => (v.hidden = (v.hidden ?? new Set<string>()).add(decode(rest))),
        s: (rest) => {
            if (/^\d{1,6}$/.test(rest)) v.slice = Number(rest);
        },
        w: (rest) => (v.show = rest === "sat" ? "sat" : "load"),
        x: (rest) => (v.xLog = rest === "1"),
        y: (rest) => (v.yLog = rest === "1"),
    };
    for (const part of text.split(",")) readers[part[0] ?? ""]?.(part.slice(1));
    return v;
}

export function readState(hash: string): State {
    const params = new URLSearchParams(hash.replace(/^#/, ""));
    const view = VIEWS.find((v) => v === params.get("view")) ?? "runs";
    const state = emptyState(view);
    state.runs = params.getAll("run");
    state.dir = params.get("dir") ?? "";
    state.section = params.get("section") ?? "";
    for (const name of FILTERS) {
        const value = params.get(name);
        if (value) state.filter[name] = value;
    }
    for (const [key, value] of params)
        if (key.startsWith("f.")) state.figures.set(key.slice(2), readView(value));
    return state;
}

export function writeState(s: State): string {
    const params = new URLSearchParams();
    params.set("view", s.view);
    for (const run of s.runs) params.append("run", run);
    if (s.dir) params.set("dir", s.dir);
    if (s.section) params.set("section", s.section);
    for (const name of FILTERS) if (s.filter[name]) params.set(name, s.filter[name]);
    for (const [id, view] of s.figures) {
        const text = writeView(view);
        if (text) params.set(`f.${id}`, text);
    }
    return `#${params.toString()}`;
}

// Whether two states show the same documents; sections and figures may differ.
export function sameDocuments(a: State, b: State): boolean {
    return a.view === b.view && a.dir === b.dir && JSON.stringify(a.runs) === JSON.stringify(b.runs);
}
