// viewer.ts -- the page of `weir serve`: an address tells what is shown, and what is shown is in it.

import type {ReportDocument} from "../document";
import type {View} from "../draw/picture";
import {h} from "../page/dom";
import {contents, Painter, sectionView, sources, warnings, type ReportOptions} from "../page/report";
import {themeButton} from "../page/theme";
import {getProgress, getReport, getRuns, type RunList} from "./api";
import {comparedSection, namesOf} from "./compare";
import {pairSections} from "./pair";
import {RunsView} from "./runs";
import {emptyState, readState, sameDocuments, writeState, type State} from "./state";
import {StudyView} from "./study";

const POLL_MS = 2000;
const ICON =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 5h14M1 9q3-3 7 0t7 0' " +
    "fill='none' stroke='%230068a8' stroke-width='2'/%3E%3C/svg%3E";

export class Viewer {
    private state = readState(location.hash);
    private list: RunList = {weir_runs: 1, allow_run: false, runs: []};
    private painter: Painter | null = null;
    private runsView: RunsView | null = null;
    private polls = 0;
    private turn = 0; // counts what was asked for, so that a late answer does not overwrite a newer one
    private readonly heading = h("h1", {tabindex: -1}, "weir");
    private readonly tabs = h("nav", {class: "tabs", "aria-label": "views"});
    private readonly page = h("div", {class: "page"});
    private readonly said = h("p", {class: "said", role: "alert"});

    start(): void {
        const app = h(
            "div",
            {id: "weir-app", class: "viewer"},
            h("a", {class: "skip", href: "#weir-main", click: (e) => this.skip(e)}, "Skip to the content"),
            h("header", {class: "top"}, this.heading, this.tabs, themeButton()),
            this.said,
            this.page,
        );
        document.documentElement.classList.add("weir-live");
        document.head.append(h("link", {rel: "icon", href: ICON})); // or the browser asks for one that is not there
        const still = document.getElementById("weir-static");
        if (still) still.replaceWith(app);
        else document.body.append(app);
        window.addEventListener("hashchange", () => this.moved());
        void this.first();
        setInterval(() => void this.poll(), POLL_MS);
    }

    private skip(e: Event): void {
        e.preventDefault(); // the address is the state's
        document.getElementById("weir-main")?.focus();
    }

    private async first(): Promise<void> {
        try {
            this.list = await getRuns();
        } catch (e) {
            this.fail(e);
        }
        await this.show();
    }

    private moved(): void {
        const next = readState(location.hash);
        const same = sameDocuments(this.state, next) && next.view !== "runs";
        this.state = next;
        if (same) this.scroll();
        else void this.show();
    }

    private go(state: State): void {
        location.hash = writeState(state); // and `moved` shows it
    }

    // The address without a new place in the history: small changes.
    private keep(): void {
        history.replaceState(null, "", writeState(this.state));
    }

    private fail(e: unknown): void {
        this.said.textContent = (e as Error).message;
        this.ready();
    }

    private ready(): void {
        document.documentElement.dataset["ready"] = "yes";
    }

    private fillTabs(): void {
        const tab = (name: string, state: State) =>
            h(
                "a",
                {
                    href: writeState(state),
                    "aria-current": this.state.view === state.view ? "page" : undefined,
                },
                name,
            );
        this.tabs.replaceChildren(tab("Runs", {...emptyState("runs"), filter: this.state.filter}));
        if (this.state.view === "report" || this.state.view === "compare")
            this.tabs.append(tab(this.state.view === "report" ? "Report" : "Comparison", this.state));
        if (this.list.allow_run) this.tabs.append(tab("Start a study", emptyState("study")));
    }

    private async show(): Promise<void> {
        const turn = ++this.turn;
        delete document.documentElement.dataset["ready"];
        this.said.textContent = "";
        this.painter?.stop();
        this.painter = null;
        this.runsView = null;
        this.fillTabs();
        const views: Record<State["view"], () => Promise<void>> = {
            runs: () => this.showRuns(),
            report: () => this.showReport(turn),
            compare: () => this.showCompare(turn),
            study: () => this.showStudy(),
        };
        try {
            await views[this.state.view]();
        } catch (e) {
            if (turn === this.turn) this.fail(e);
        }
    }

    private async showRuns(): Promise<void> {
        this.title("Runs");
        this.runsView = new RunsView(this.list, this.state, {
            filter: (filter) => {
                this.state.filter = {...filter};
                this.keep();
            },
            select: (runs) => {
                this.state.runs = runs;
                this.keep();
            },
            go: (state) => this.go(state),
        });
        this.page.replaceChildren(h("main", {id: "weir-main", tabindex: -1}, this.runsView.root));
        this.ready();
        await this.poll();
    }

    private async showStudy(): Promise<void> {
        this.title("Start a study");
        const view = this.list.allow_run
            ? new StudyView(() => void this.refresh()).root
            : h("p", {}, "This viewer starts no studies; run `weir serve --allow-run` if it should.");
        this.page.replaceChildren(h("main", {id: "weir-main", tabindex: -1}, view));
        this.ready();
    }

    private options(): ReportOptions {
        return {
            views: this.state.figures,
            changed: (id: string, view: View) => {
                this.state.figures.set(id, {...view, hidden: new Set(view.hidden)});
                this.keep();
            },
        };
    }

    private title(text: string): void {
        this.heading.textContent = text;
        document.title = text === "Runs" ? "weir: runs" : `${text} \u2013 weir`;
    }

    private wait(): void {
        this.page.replaceChildren(
            h(
                "main",
                {id: "weir-main", tabindex: -1},
                h("p", {class: "note"}, "Reading the run files\u2026"),
            ),
        );
    }

    private async showReport(turn: number): Promise<void> {
        this.wait();
        const doc = await getReport(this.state.runs, this.state.dir);
        if (turn !== this.turn) return;
        this.title(doc.title);
        const painter = new Painter();
        const parts = doc.sections.map((s) => sectionView(s, painter, this.options()));
        const notice = parts.length
            ? null
            : h("p", {class: "note"}, "There is nothing to draw in these runs yet.");
        this.place(doc, painter, [warnings(doc), notice, ...parts, sources(doc.runs ?? [])]);
    }

    private async showCompare(turn: number): Promise<void> {
        const [left, right] = this.state.runs;
        if (!left || !right) throw new Error("a comparison needs two runs; choose them in the list");
        this.wait();
        const [a, b] = await Promise.all([getReport([left]), getReport([right])]);
        if (turn !== this.turn) return;
        const names = namesOf(a, b, [left, right]);
        this.title(`${names[0]} and ${names[1]}`);
        const painter = new Painter();
        const pairs = pairSections(a, b);
        const parts = pairs.map((p) => comparedSection(p, names, painter, this.options()));
        const swap = h("a", {href: writeState({...this.state, runs: [right, left]})}, "Change sides");
        const doc = {...a, sections: pairs.map((p) => p.a ?? p.b).filter((s) => !!s)};
        this.place(doc, painter, [
            h("p", {}, "Figures of both runs have the same axes. ", swap),
            warnings(a),
            warnings(b),
            ...parts,
            sources([...(a.runs ?? []), ...(b.runs ?? [])]),
        ]);
    }

    private place(doc: ReportDocument, painter: Painter, parts: (HTMLElement | null)[]): void {
        this.painter = painter;
        const nav = contents(doc.sections, (s) => writeState({...this.state, section: s.id}));
        const main = h("main", {id: "weir-main", tabindex: -1}, ...parts);
        this.page.replaceChildren(h("div", {class: `columns ${this.state.view}`}, nav, main));
        painter.start();
        void painter.ready.then(() => {
            this.scroll();
            this.ready();
        });
    }

    private scroll(): void {
        for (const link of this.page.querySelectorAll<HTMLElement>(".contents a")) {
            if (link.dataset["section"] === this.state.section) link.setAttribute("aria-current", "true");
            else link.removeAttribute("aria-current");
        }
        if (!this.state.section) return;
        document.getElementById(this.state.section)?.scrollIntoView();
        document.getElementById(`${this.state.section}-h`)?.focus({preventScroll: true});
    }

    private async refresh(): Promise<void> {
        this.list = await getRuns();
        this.runsView?.update(this.list);
    }

    // What goes on: asked for only while the list is visible.
    private async poll(): Promise<void> {
        if (document.hidden || !this.runsView) return;
        try {
            const p = await getProgress();
            const known = new Map(this.list.runs.map((r) => [r.id, r.status]));
            const running = this.list.runs.filter((r) => r.status === "running").map((r) => r.id);
            const news =
                p.runs.some((r) => known.get(r.id) !== r.status) ||
                running.some((id) => !p.runs.some((r) => r.id === id));
            // What was made elsewhere, from beginning to end between two looks, is found a little later.
            if (news || ++this.polls % 5 === 0) await this.refresh();
            this.runsView?.progress(p);
            this.said.textContent = "";
        } catch (e) {
            this.said.textContent = (e as Error).message;
        }
    }
}
