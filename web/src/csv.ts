// csv.ts -- a table as RFC 4180 text: all digits, quotes only where they are needed.

import type {Cell, Column, Table} from "./document";

function quote(text: string): string {
    return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replace(/"/g, '""')}"` : text;
}

function field(v: Cell | undefined): string {
    if (v === null || v === undefined) return "";
    return typeof v === "number" ? String(v) : quote(String(v));
}

function heading(c: Column): string {
    const suffix = c.unit ? `_${c.unit}` : "";
    return c.unit && !c.name.endsWith(suffix) && !c.name.endsWith(`(${c.unit})`)
        ? `${c.name} (${c.unit})`
        : c.name;
}

export function toCsv(table: Table): string {
    const lines = [table.columns.map((c) => quote(heading(c))).join(",")];
    for (const row of table.rows) lines.push(table.columns.map((_, i) => field(row[i])).join(","));
    return lines.join("\r\n") + "\r\n";
}
