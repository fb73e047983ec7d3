// compare.ts -- two runs side by side: each figure beside its like, on the same axes.

import type {Figure, ReportDocument, Section, Table} from "../document";
import {h} from "../page/dom";
import {FigureView} from "../page/figure";
import {leadOf, type Painter, type ReportOptions} from "../page/report";
import {tableView} from "../page/table";
import {mergeTables, pairUp, shareAxes, type Pair} from "./pair";

function tablesOf(s: Section | undefined): Map<string, Table> {
    return new Map((s?.tables ?? []).map((t) => [t.id, t]));
}

const absent = () => h("div", {class: "absent"}, "not in this run");

// Two figures of which each follows the other.
function together(
    p: Pair<Figure>,
    tables: Map<string, Table>[],
    painter: Painter,
    options: ReportOptions,
): HTMLElement {
    const figures = p.a && p.b ? shareAxes(p.a, p.b) : [p.a, p.b];
    const views: (FigureView | null)[] = figures.map((fig, side) => {
        if (!fig) return null;
        const view = options.views?.get(fig.id);
        return new FigureView(fig, {
            table: fig.table ? tables[side]?.get(fig.table) : undefined,
            prefix: side ? "b-" : "a-",
            ...(view ? {view: {...view, hidden: new Set(view.hidden)}} : {}),
            changed: (v) => {
                views[1 - side]?.adopt(v);
                options.changed?.(fig.id, v);
            },
        });
    });
    for (const v of views) if (v) painter.add(v);
    return h("div", {class: "beside"}, ...views.map((v) => v?.root ?? absent()));
}

function tableRows(a: Section | undefined, b: Section | undefined, names: [string, string]): HTMLElement[] {
    return pairUp(a?.tables ?? [], b?.tables ?? []).flatMap((pair) => {
        const both = pair.a && pair.b ? mergeTables(pair.a, pair.b, names) : null;
        if (both) {
            const view = tableView(both);
            return both.rows.length > 24
                ? [h("details", {}, h("summary", {}, `${both.title} (${both.rows.length} rows)`), view)]
                : [view];
        }
        const one = (t: Table | undefined, prefix: string) =>
            t ? tableView({...t, id: prefix + t.id}) : absent();
        const rows = Math.max(pair.a?.rows.length ?? 0, pair.b?.rows.length ?? 0);
        const beside = h("div", {class: "beside"}, one(pair.a, "a-"), one(pair.b, "b-"));
        return rows > 24
            ? [
                  h(
                      "details",
                      {},
                      h("summary", {}, `${(pair.a ?? pair.b)?.title ?? "Data"} (${rows} rows)`),
                      beside,
                  ),
              ]
            : [beside];
    });
}

export function comparedSection(
    pair: Pair<Section>,
    names: [string, string],
    painter: Painter,
    options: ReportOptions,
): HTMLElement {
    const any = (pair.a ?? pair.b) as Section;
    const root = h(
        "section",
        {class: "section", id: any.id, "aria-labelledby": `${any.id}-h`},
        h("h2", {id: `${any.id}-h`, tabindex: -1}, any.title),
    );
    root.append(
        h(
            "div",
            {class: "beside heads"},
            h("p", {}, h("b", {}, names[0]), leadOf(pair.a)),
            h("p", {}, h("b", {}, names[1]), leadOf(pair.b)),
        ),
    );
    const tables = [tablesOf(pair.a), tablesOf(pair.b)];
    for (const p of pairUp(pair.a?.figures ?? [], pair.b?.figures ?? []))
        root.append(together(p, tables, painter, options));
    root.append(...tableRows(pair.a, pair.b, names));
    return root;
}

// Two names that tell the runs apart.
export function namesOf(a: ReportDocument, b: ReportDocument, ids: [string, string]): [string, string] {
    const name = (d: ReportDocument, id: string) => d.runs?.[0]?.name ?? id;
    const [p, q] = [name(a, ids[0]), name(b, ids[1])];
    return p === q ? ids : [p, q];
}
