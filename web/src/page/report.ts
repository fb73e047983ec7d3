// report.ts -- a report document as a page: where to go, what was run, sections of figures and tables.

import type {ReportDocument, Run, Section, Table} from "../document";
import type {View} from "../draw/picture";
import {cell} from "../format";
import {h} from "./dom";
import {FigureView} from "./figure";
import {tableView} from "./table";

export interface ReportOptions {
    prefix?: string;
    views?: Map<string, Partial<View>>; // what the address says about figures
    changed?: (id: string, view: View) => void;
}

const GROUPS: Record<string, string> = {
    study: "Study",
    compare: "Comparison",
    sweep: "Load sweep",
    run: "Run",
    roofline: "Roofline",
    interference: "Interference",
    state: "State of a path",
    stack: "I/O stack",
};

// Figures are painted in the order they are met, a few at a time, so that the first are soon seen.
export class Painter {
    private readonly waiting: FigureView[] = [];
    private readonly painted = new Set<FigureView>();
    private width = window.innerWidth;
    private done: () => void = () => undefined;
    readonly ready = new Promise<void>((resolve) => (this.done = resolve));
    private readonly onResize = () => this.resized();
    private readonly onPrint = () => this.drain(Infinity);

    constructor() {
        window.addEventListener("resize", this.onResize);
        window.addEventListener("beforeprint", this.onPrint);
    }

    add(figure: FigureView): void {
        this.waiting.push(figure);
    }

    start(): void {
        this.drain(2);
        const go = () => {
            this.drain(3);
            if (this.waiting.length) setTimeout(go, 0);
            else this.done();
        };
        requestAnimationFrame(() => setTimeout(go, 0));
    }

    stop(): void {
        window.removeEventListener("resize", this.onResize);
        window.removeEventListener("beforeprint", this.onPrint);
        this.waiting.length = 0;
    }

    private drain(most: number): void {
        for (let i = 0; i < most; i++) {
            const next = this.waiting.shift();
            if (!next) return;
            next.paint();
            this.painted.add(next);
        }
    }

    private resized(): void {
        if (window.innerWidth === this.width) return;
        this.width = window.innerWidth;
        for (const f of this.painted) f.paint();
    }
}

function dataTables(section: Section): Map<string, Table> {
    return new Map((section.tables ?? []).map((t) => [t.id, t]));
}

export function leadOf(section: Section | undefined): string {
    return section?.says && section.says !== section.figures?.[0]?.desc ? section.says : "";
}

export function sectionView(section: Section, painter: Painter, options: ReportOptions = {}): HTMLElement {
    const tables = dataTables(section);
    const prefix = options.prefix ?? "";
    const root = h("section", {
        class: "section",
        id: prefix + section.id,
        "aria-labelledby": `${prefix}${section.id}-h`,
    });
    root.append(h("h2", {id: `${prefix}${section.id}-h`, tabindex: -1}, section.title));
    // A section may say the same as its first figure: once is enough.
    if (leadOf(section)) root.append(h("p", {class: "lead"}, leadOf(section)));
    for (const fig of section.figures ?? []) {
        const view = options.views?.get(fig.id);
        const figure = new FigureView(fig, {
            table: fig.table ? tables.get(fig.table) : undefined,
            prefix,
            ...(view ? {view} : {}),
            changed: (v) => options.changed?.(fig.id, v),
        });
        painter.add(figure);
        root.append(figure.root);
    }
    for (const table of section.tables ?? []) {
        const shown = tableView({...table, id: prefix + table.id});
        // A figure's data are there for whoever wants them; a table of its own is read at once.
        const behind = (section.figures ?? []).some((f) => f.table === table.id) && table.rows.length > 24;
        if (behind)
            root.append(
                h(
                    "details",
                    {},
                    h("summary", {}, `${table.title || "Data"} (${table.rows.length} rows)`),
                    shown,
                ),
            );
        else root.append(shown);
    }
    return root;
}

export function contents(sections: Section[], href: (s: Section) => string): HTMLElement {
    const nav = h("nav", {class: "contents", "aria-label": "sections"});
    let group: string | undefined;
    let list = h("ul");
    for (const s of sections) {
        if (s.group !== group) {
            group = s.group;
            list = h("ul");
            nav.append(h("h2", {}, GROUPS[group ?? ""] ?? group ?? "Sections"), list);
        }
        list.append(h("li", {}, h("a", {href: href(s), "data-section": s.id}, s.title)));
    }
    return nav;
}

function runFacts(run: Run): HTMLElement {
    const list = h("dl");
    const facts: [string, string][] = [];
    if (run.path) facts.push(["file", run.path]);
    if (run.status) facts.push(["state", run.status]);
    for (const [key, value] of Object.entries(run.facts ?? {}))
        if (value !== null && value !== "") facts.push([key, cell(value)]);
    for (const [key, value] of facts) list.append(h("dt", {}, key), h("dd", {}, value));
    return h("div", {class: "run"}, h("h3", {}, run.title || run.name), list);
}

// What the numbers come from; of many runs only the names until the reader asks for more.
export function sources(runs: Run[]): HTMLElement | null {
    if (!runs.length) return null;
    const what = runs.length === 1 ? "The run" : `The ${runs.length} runs`;
    return h(
        "details",
        {class: "sources"},
        h("summary", {}, `${what} this was made from`),
        ...runs.map(runFacts),
    );
}

export function warnings(doc: ReportDocument): HTMLElement | null {
    return doc.warnings?.length
        ? h("div", {class: "warnings", role: "note"}, ...doc.warnings.map((w) => h("p", {}, w)))
        : null;
}
