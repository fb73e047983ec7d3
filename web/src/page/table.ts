// table.ts -- a table one can sort, with its text as CSV.

import {toCsv} from "../csv";
import type {Cell, Table} from "../document";
import {cell, named} from "../format";
import {download, fileName, h} from "./dom";

const FIRST = 200; // rows that are shown at once
const SENTENCE = 60; // characters: what is longer is wrapped

function compare(a: Cell | undefined, b: Cell | undefined): number {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1; // what is missing comes last
    if (b === null || b === undefined) return -1;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, {numeric: true});
}

export function tableView(table: Table): HTMLElement {
    const body = h("tbody");
    const heads: HTMLElement[] = [];
    let rows = table.rows;
    let all = rows.length <= FIRST;
    const more = h("button", {type: "button", class: "more"}, `Show all ${table.rows.length} rows`);
    const isNumber = (i: number) =>
        table.columns[i]?.kind === "number" ||
        (!table.columns[i]?.kind && table.rows.every((r) => r[i] === null || typeof r[i] === "number"));
    const numeric = table.columns.map((_, i) => isNumber(i));
    const classes = table.columns.map((_, i) =>
        numeric[i] ? "number" : table.rows.some((r) => String(r[i] ?? "").length > SENTENCE) ? "words" : undefined,
    );
    const fill = () => {
        const shown = all ? rows : rows.slice(0, FIRST);
        body.replaceChildren(
            ...shown.map((row) =>
                h(
                    "tr",
                    {},
                    ...table.columns.map((_, i) =>
                        i === 0 && !numeric[0]
                            ? h("th", {scope: "row", class: classes[0]}, cell(row[i]))
                            : h(
                                  "td",
                                  {class: classes[i], ...(numeric[i] ? {"data-value": String(row[i] ?? "")} : {})},
                                  cell(row[i]),
                              ),
                    ),
                ),
            ),
        );
        more.hidden = all;
    };
    more.addEventListener("click", () => {
        all = true;
        fill();
    });
    table.columns.forEach((c, i) => {
        const head = h("th", {scope: "col", class: classes[i]});
        const button = h("button", {type: "button", title: "sort by this column"}, named(c.name, c.unit));
        button.addEventListener("click", () => {
            const down = head.getAttribute("aria-sort") === "ascending";
            heads.forEach((other) => other.removeAttribute("aria-sort"));
            head.setAttribute("aria-sort", down ? "descending" : "ascending");
            rows = [...table.rows].sort((a, b) => compare(a[i], b[i]) * (down ? -1 : 1));
            fill();
        });
        head.append(button);
        heads.push(head);
    });
    fill();
    const name = table.title || table.id;
    return h(
        "div",
        {class: "table", id: table.id},
        h(
            "div",
            {class: "scroll", tabindex: 0, role: "region", "aria-label": name},
            h("table", {}, h("caption", {}, h("span", {}, name)), h("thead", {}, h("tr", {}, ...heads)), body),
        ),
        h(
            "div",
            {class: "tools"},
            more,
            h(
                "button",
                {
                    type: "button",
                    class: "save-csv",
                    click: () => download(fileName(table.id, "csv"), "text/csv", toCsv(table)),
                },
                "Table as CSV",
            ),
        ),
    );
}
