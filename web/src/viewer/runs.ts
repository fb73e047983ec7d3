// runs.ts -- the list of runs: filters, what goes on, and what to show together.

import {number, quantity} from "../format";
import {h} from "../page/dom";
import type {Progress, RunList, RunRow, StudyRow} from "./api";
import {FILTERS, writeState, emptyState, type State} from "./state";

export interface RunsActions {
    filter(filter: Record<string, string>): void; // keeps it in the address
    select(runs: string[]): void;
    go(state: State): void;
}

const choicesOf = (r: RunRow) =>
    Object.entries(r.choices ?? {})
        .map(([k, v]) => `${k}=${v}`)
        .join(", ");

// Every word of the filter is somewhere in what is known about the run.
export function passes(r: RunRow, filter: Record<string, string>): boolean {
    if (filter["kind"] && r.kind !== filter["kind"]) return false;
    if (filter["status"] && r.status !== filter["status"]) return false;
    if (filter["study"] && (r.study || "") !== filter["study"]) return false;
    const text = [r.id, r.name, r.title, r.kind, r.study, choicesOf(r), r.seed].join(" ").toLowerCase();
    return (filter["q"] ?? "")
        .toLowerCase()
        .split(/\s+/)
        .every((word) => text.includes(word));
}

function reportLink(runs: string[], dir = "", view: State["view"] = "report"): string {
    return writeState({...emptyState(view), runs, dir});
}

export class RunsView {
    readonly root = h("div", {class: "runs"});
    private readonly body = h("tbody");
    private readonly count = h("p", {class: "count", role: "status"});
    private readonly together = h("button", {type: "button", class: "together"}, "Show together");
    private readonly beside = h("button", {type: "button", class: "pairwise"}, "Compare side by side");
    private readonly opened = new Set<string>(); // studies whose runs are listed
    private readonly chosen: Set<string>;
    private readonly bars = new Map<string, HTMLElement>();
    private filter: Record<string, string>;
    private form: HTMLElement;

    constructor(
        private list: RunList,
        state: State,
        private readonly actions: RunsActions,
    ) {
        this.filter = {...state.filter};
        this.chosen = new Set(state.runs);
        this.together.addEventListener("click", () =>
            actions.go({...emptyState("report"), runs: [...this.chosen]}),
        );
        this.beside.addEventListener("click", () =>
            actions.go({...emptyState("compare"), runs: [...this.chosen]}),
        );
        const head = ["", "name", "kind", "study and choices", "state", "started", "seed", "size"];
        this.form = this.filters();
        this.root.append(
            this.form,
            h("div", {class: "tools chosen"}, this.count, this.together, this.beside),
            h(
                "div",
                {class: "table"},
                h(
                    "div",
                    {class: "scroll tall", tabindex: 0, role: "region", "aria-label": "runs"},
                    h(
                        "table",
                        {},
                        h("caption", {}, "Runs"),
                        h(
                            "thead",
                            {},
                            h(
                                "tr",
                                {},
                                ...head.map((t) =>
                                    h(
                                        "th",
                                        {scope: "col", class: t === "size" ? "number" : undefined},
                                        t || h("span", {class: "unseen"}, "choose"),
                                    ),
                                ),
                            ),
                        ),
                        this.body,
                    ),
                ),
            ),
        );
        this.fill();
    }

    update(list: RunList): void {
        this.list = list;
        // What can be filtered by may have changed; but not while the user is typing.
        if (!this.form.contains(document.activeElement)) {
            const form = this.filters();
            this.form.replaceWith(form);
            this.form = form;
        }
        for (const id of this.chosen) if (!list.runs.some((r) => r.id === id)) this.chosen.delete(id);
        this.fill();
    }

    // What goes on, without drawing the list again.
    progress(p: Progress): void {
        for (const r of p.runs)
            this.bars.get(r.id)?.replaceChildren(...stateOf(r.status, r.progress ?? null, r.sim_ns ?? null, r.of));
        for (const s of p.studies ?? []) this.bars.get(`study ${s.id}`)?.replaceChildren(...studyState(s));
    }

    private filters(): HTMLElement {
        const form = h("form", {class: "filters", role: "search", submit: (e) => e.preventDefault()});
        const changed = () => {
            this.actions.filter(this.filter);
            this.fill();
        };
        const search = h("input", {
            type: "search",
            value: this.filter["q"] ?? "",
            placeholder: "name, title, choice\u2026",
        });
        search.addEventListener("input", () => {
            this.filter["q"] = search.value;
            changed();
        });
        form.append(h("label", {}, "Find", search));
        for (const name of FILTERS) {
            if (name === "q") continue;
            const values = [...new Set(this.list.runs.map((r) => r[name] ?? ""))].filter(Boolean).sort();
            if (values.length < 2 && !this.filter[name]) continue;
            const choice = h("select", {}, h("option", {value: ""}, "all"));
            for (const v of values)
                choice.append(h("option", {value: v, selected: this.filter[name] === v}, v));
            choice.addEventListener("change", () => {
                this.filter[name] = choice.value;
                changed();
            });
            form.append(h("label", {}, name, choice));
        }
        return form;
    }

    private fill(): void {
        this.bars.clear();
        const shown = this.list.runs.filter((r) => passes(r, this.filter));
        this.body.replaceChildren(...this.rows(shown));
        if (!shown.length)
            this.body.append(
                h(
                    "tr",
                    {},
                    h(
                        "td",
                        {colspan: 8},
                        this.list.runs.length
                            ? "No run passes these filters; clear one of them."
                            : "No runs here yet; make one with `weir run FILE -o DIR/NAME.weir` and it appears.",
                    ),
                ),
            );
        this.tally(shown.length);
    }

    // A study or an experiment is one row; its runs are below it when it is opened, or when a filter looks for some.
    private rows(shown: RunRow[]): HTMLElement[] {
        const filtered = FILTERS.some((name) => this.filter[name]);
        const rows: HTMLElement[] = [];
        const put = new Set<string>();
        for (const r of shown) {
            const study = r.study ? this.list.studies?.find((s) => s.id === r.dir) : undefined;
            if (study && !put.has(study.id)) rows.push(this.study(study, filtered));
            if (study) put.add(study.id);
            if (!study || filtered || this.opened.has(study.id)) rows.push(this.row(r));
        }
        return rows;
    }

    private tally(shown: number): void {
        const n = this.chosen.size;
        const all = this.list.runs.length;
        this.count.textContent = `${shown === all ? all : `${shown} of ${all}`} runs, ${n} chosen`;
        this.together.disabled = n < 1;
        this.beside.disabled = n !== 2;
        this.beside.title = n === 2 ? "" : "choose two runs";
    }

    private row(r: RunRow): HTMLElement {
        const box = h("input", {
            type: "checkbox",
            checked: this.chosen.has(r.id),
            "aria-label": `choose ${r.name}`,
        });
        box.addEventListener("change", () => {
            if (box.checked) this.chosen.add(r.id);
            else this.chosen.delete(r.id);
            this.tally(this.list.runs.filter((x) => passes(x, this.filter)).length);
            this.actions.select([...this.chosen]);
        });
        const status = h("td", {class: "state"}, ...stateOf(r.status ?? "", null, null));
        this.bars.set(r.id, status);
        return h(
            "tr",
            {"data-run": r.id},
            h("td", {}, box),
            h(
                "th",
                {scope: "row"},
                h("a", {href: reportLink([r.id])}, r.name),
                r.title && r.title !== r.name ? h("span", {class: "title"}, r.title) : null,
            ),
            h("td", {}, r.kind ?? ""),
            h(
                "td",
                {class: "choices"},
                r.study ? h("b", {}, r.study) : null,
                r.study && r.choices ? ": " : null,
                choicesOf(r),
            ),
            status,
            h("td", {}, (r.started ?? "").replace("T", " ").replace(/Z$/, "")),
            h("td", {}, String(r.seed ?? "")),
            h("td", {class: "number"}, typeof r.bytes === "number" ? quantity(r.bytes, "B", 3) : ""),
        );
    }

    private study(s: StudyRow, filtered: boolean): HTMLElement {
        const state = h("td", {class: "state", colspan: 4}, ...studyState(s));
        const name = s.name || s.id;
        const open = filtered || this.opened.has(s.id);
        const button = h(
            "button",
            {
                type: "button",
                class: "open",
                "aria-expanded": open ? "true" : "false",
                "aria-label": `runs of ${name}`,
                disabled: filtered,
            },
            open ? "\u2212" : "+",
        );
        button.addEventListener("click", () => {
            if (!this.opened.delete(s.id)) this.opened.add(s.id);
            this.fill();
            this.body.querySelector<HTMLElement>(`tr[data-study="${CSS.escape(s.id)}"] button`)?.focus();
        });
        this.bars.set(`study ${s.id}`, state);
        return h(
            "tr",
            {class: "study", "data-study": s.id},
            h("td", {}, button),
            h("th", {scope: "row"}, h("a", {href: reportLink([], s.id)}, name)),
            h("td", {}, s.kind ?? "study"),
            h("td", {class: "choices"}, s.id === name ? "" : s.id),
            state,
        );
    }
}

// A run without a fraction says why: how long a program takes is not known before it has ended.
export function progressWords(progress: number | null, sim_ns: number | null, of = ""): string {
    const where = sim_ns === null ? "" : ` at ${quantity(sim_ns, "ns", 3)}`;
    if (progress !== null) return `running, ${number(progress * 100, 3)}\u00a0%${of ? ` of ${of}` : ""}${where}`;
    return `running${where}; its end is not known beforehand`;
}

function stateOf(status: string, progress: number | null, sim_ns: number | null, of?: string): Node[] {
    if (status !== "running") return [document.createTextNode(status)];
    const words = progressWords(progress, sim_ns, of);
    const bar = h("progress", {max: 1, "aria-label": words, ...(progress === null ? {} : {value: progress})});
    return [bar, document.createTextNode(words)];
}

function studyState(s: {runs: number; complete: number; running?: number}): Node[] {
    const text = `${s.complete} of ${s.runs} runs complete${s.running ? `, ${s.running} running` : ""}`;
    const nodes: Node[] = [document.createTextNode(text)];
    if (s.complete < s.runs)
        nodes.unshift(h("progress", {max: s.runs, value: s.complete, "aria-label": text}));
    return nodes;
}
