// figure.ts -- one figure in the page: its picture, legend, controls and read-out.
//
//   sentence
//   [x] series  [x] series            legend: what is shown
//   picture  <-- pointer, arrow keys  a spot is marked and read out
//   slider, switches, CSV, SVG
//
// What can be changed about a figure is its View, and a page may keep that in its address.

import {toCsv} from "../csv";
import type {Figure, MachineFigure, Table} from "../document";
import {legendOf, svgFile, swatch} from "../draw/file";
import {dataOf, draw, known} from "../draw/kinds";
import {sliceName} from "../draw/machine";
import {wideMatrix} from "../draw/matrix";
import {defaultView, spotAt, spotBeside, type Picture, type Spot, type View} from "../draw/picture";
import {el, toDom} from "../draw/tree";
import {download, fileName, h} from "./dom";

export interface FigureOptions {
    table?: Table | undefined; // holds its data; otherwise they are made from the figure
    view?: Partial<View>;
    changed?: (view: View) => void;
    prefix?: string; // keeps the ids of two documents on one page apart
}

const KEYS: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
};

export class FigureView {
    readonly root: HTMLElement;
    private view: View;
    private readonly stage = h("div", {class: "stage"});
    private readonly tip = h("div", {class: "tip", hidden: true});
    private readonly readout = h("p", {class: "readout", role: "status", "aria-live": "polite"});
    private readonly legend = h("div", {class: "legend"});
    private bar: HTMLElement;
    private picture: Picture | null = null;
    private spots: Spot[] | null = null;
    private at = -1;
    private svg: SVGElement | null = null;
    private cursor: SVGElement | null = null;

    constructor(
        readonly fig: Figure,
        private readonly options: FigureOptions = {},
    ) {
        this.view = {...defaultView(), ...options.view};
        const id = (options.prefix ?? "") + fig.id;
        const caption = h(
            "figcaption",
            {},
            h("h3", {id: `${id}-name`}, fig.title),
            h("p", {id: `${id}-desc`, class: "says"}, fig.desc ?? ""),
        );
        this.stage.append(this.tip);
        this.bar = this.tools();
        this.root = h(
            "figure",
            {class: `figure kind-${fig.kind}`, id, "aria-labelledby": `${id}-name`},
            caption,
            this.legend,
            this.stage,
            this.readout,
            this.bar,
        );
    }

    // Shows what its neighbour shows.
    adopt(view: View): void {
        this.view = {...view, hidden: new Set(view.hidden)};
        const bar = this.tools();
        this.bar.replaceWith(bar);
        this.bar = bar;
        this.legend.replaceChildren();
        this.paint();
    }

    // Draws at the width there is now; nothing is drawn before this.
    paint(): void {
        const width = Math.round(Math.max(300, Math.min(this.stage.clientWidth || 720, 1000)));
        this.view.width = width;
        if (!known(this.fig)) {
            this.stage.replaceChildren(
                h(
                    "p",
                    {class: "note"},
                    `This page does not know figures of the kind "${(this.fig as Figure).kind}"; make it again with a newer weir.`,
                ),
            );
            return;
        }
        const focused = document.activeElement === this.svg;
        let picture: Picture;
        try {
            picture = draw(this.fig, this.view);
        } catch (e) {
            console.error(`figure ${this.fig.id}:`, e); // one figure less, not the page
            this.stage.replaceChildren(
                h("p", {class: "note"}, "This figure could not be drawn; its data are below."),
            );
            return;
        }
        const id = this.root.id;
        const svg = toDom(
            el(
                "svg",
                {
                    class: "wc",
                    viewBox: `0 0 ${picture.width} ${Math.ceil(picture.height)}`,
                    width: picture.width,
                    height: Math.ceil(picture.height),
                    role: "application",
                    "aria-roledescription": "figure",
                    "aria-label": `${this.fig.title}. The arrow keys go from point to point.`,
                    "aria-describedby": `${id}-desc`,
                    tabindex: 0,
                },
                picture.shapes,
            ),
        );
        this.picture = picture;
        this.spots = null;
        this.listen(svg);
        if (this.svg) this.svg.replaceWith(svg);
        else this.stage.prepend(svg);
        this.svg = svg;
        this.cursor = null;
        if (focused) svg.focus({preventScroll: true});
        if (!this.legend.childElementCount) this.fillLegend(picture);
    }

    private listen(svg: SVGElement): void {
        svg.addEventListener("pointermove", (e) => this.hover(e));
        svg.addEventListener("pointerleave", () => this.point(-1));
        svg.addEventListener("keydown", (e) => this.key(e));
        svg.addEventListener("blur", () => this.point(-1));
    }

    private allSpots(): Spot[] {
        this.spots ??= this.picture?.spots() ?? [];
        return this.spots;
    }

    private hover(e: PointerEvent): void {
        if (!this.svg || !this.picture) return;
        const box = this.svg.getBoundingClientRect();
        const scale = this.picture.width / box.width;
        const x = (e.clientX - box.left) * scale;
        const y = (e.clientY - box.top) * scale;
        this.point(spotAt(this.allSpots(), this.picture.near, x, y));
    }

    private key(e: KeyboardEvent): void {
        const spots = this.allSpots();
        const step = KEYS[e.key];
        let to = this.at;
        if (step) to = spotBeside(spots, this.at, step[0], step[1]);
        else if (e.key === "Home") to = spots.length ? 0 : -1;
        else if (e.key === "End") to = spots.length - 1;
        else if (e.key === "Escape") to = -1;
        else return;
        e.preventDefault();
        this.point(to);
    }

    // Marks a spot and reads it out; -1: none.
    private point(i: number): void {
        if (i === this.at) return;
        this.at = i;
        const spot = this.allSpots()[i];
        this.cursor?.remove();
        this.cursor = null;
        this.tip.hidden = !spot;
        if (!spot || !this.svg || !this.picture) {
            this.readout.textContent = "";
            return;
        }
        this.readout.textContent = spot.says;
        this.cursor = toDom(cursorShape(spot, this.picture.near));
        this.svg.append(this.cursor);
        this.tip.textContent = spot.says;
        const scale = (this.svg.getBoundingClientRect().width || 1) / this.picture.width;
        const x = (spot.x + (spot.w ?? 0) / 2) * scale;
        const left = x > this.stage.clientWidth / 2;
        // Through the object model, which a strict content security policy allows.
        this.tip.style.left = left ? "" : `${Math.round(x + 14)}px`;
        this.tip.style.right = left ? `${Math.round(this.stage.clientWidth - x + 14)}px` : "";
        this.tip.style.top = `${Math.round(Math.max(0, spot.y * scale - 12))}px`;
    }

    private change(): void {
        this.point(-1);
        this.at = -1;
        this.paint();
        this.options.changed?.(this.view);
    }

    private fillLegend({legend, note}: Picture): void {
        for (const e of legendOf(this.fig, legend)) {
            const icon = toDom(
                el(
                    "svg",
                    {
                        class: "wc swatch",
                        viewBox: "-1 -8 30 16",
                        width: 30,
                        height: 16,
                        "aria-hidden": "true",
                    },
                    [swatch(e)],
                ),
            );
            const shown = !this.view.hidden.has(e.key);
            const button = h(
                "button",
                {type: "button", "aria-pressed": String(shown), title: "show or hide"},
                h("span", {}, e.name),
            );
            button.prepend(icon);
            button.addEventListener("click", () => {
                if (!this.view.hidden.delete(e.key)) this.view.hidden.add(e.key);
                button.setAttribute("aria-pressed", String(!this.view.hidden.has(e.key)));
                this.change();
            });
            this.legend.append(button);
        }
        if (note) this.legend.append(h("span", {class: "note"}, note));
    }

    private tools(): HTMLElement {
        const {fig, options} = this;
        const bar = h("div", {class: "tools"});
        if (fig.kind === "machine") bar.append(...this.machineTools(fig));
        if (fig.kind === "lines" && !fig.x.categories)
            bar.append(this.logSwitch("xLog", "log x", fig.x.scale === "log"));
        if (fig.kind === "lines" || fig.kind === "boxes")
            bar.append(this.logSwitch("yLog", "log y", fig.y.scale === "log"));
        if (fig.kind === "matrix") bar.append(this.logSwitch("yLog", "log colours", wideMatrix(fig)));
        bar.append(
            h(
                "button",
                {
                    type: "button",
                    class: "save-csv",
                    click: () =>
                        download(fileName(fig.id, "csv"), "text/csv", toCsv(options.table ?? dataOf(fig))),
                },
                "Data as CSV",
            ),
            h(
                "button",
                {
                    type: "button",
                    class: "save-svg",
                    click: () => download(fileName(fig.id, "svg"), "image/svg+xml", svgFile(fig, this.view)),
                },
                "Save as SVG",
            ),
        );
        return bar;
    }

    private logSwitch(which: "xLog" | "yLog", name: string, told: boolean): HTMLElement {
        const box = h("input", {type: "checkbox", checked: this.view[which] ?? told});
        box.addEventListener("change", () => {
            this.view[which] = box.checked;
            this.change();
        });
        return h("label", {}, box, name);
    }

    private machineTools(fig: MachineFigure): HTMLElement[] {
        const tools: HTMLElement[] = [];
        if (fig.links.some((l) => l.sat)) {
            const choice = h("select", {"aria-label": "colour links by"});
            for (const [value, name] of [
                ["load", "colour by load"],
                ["sat", "colour by saturation"],
            ] as const)
                choice.append(h("option", {value, selected: this.view.show === value}, name));
            choice.addEventListener("change", () => {
                this.view.show = choice.value;
                this.change();
            });
            tools.push(choice);
        }
        const n = fig.slices?.n ?? 1;
        if (n > 1) {
            const name = h("output", {class: "slice-name"});
            const slider = h("input", {
                type: "range",
                min: 0,
                max: n,
                step: 1,
                value: this.view.slice + 1,
                "aria-label": "time slice",
            });
            const tell = () => {
                name.textContent = sliceName(fig, this.view.slice);
                slider.setAttribute("aria-valuetext", sliceName(fig, this.view.slice));
            };
            tell();
            slider.addEventListener("input", () => {
                this.view.slice = Number(slider.value) - 1; // the leftmost place is all of them
                tell();
                this.change();
            });
            tools.push(h("label", {class: "slider"}, "time", slider, name));
        }
        return tools;
    }
}

function cursorShape(s: Spot, near: Picture["near"]) {
    if (s.w !== undefined && s.h !== undefined)
        return el("rect", {
            class: "cursor",
            x: s.x - 1,
            y: s.y - 1,
            width: s.w + 2,
            height: s.h + 2,
            fill: "none",
        });
    if (s.path)
        return el("path", {
            class: "cursor",
            d: "M" + s.path.map(([x, y]) => `${x} ${y}`).join("L"),
            fill: "none",
        });
    return el("circle", {class: "cursor", cx: s.x, cy: s.y, r: near === "x" ? 6.5 : 5, fill: "none"});
}
