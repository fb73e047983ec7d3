// pair.ts -- two documents side by side: which parts belong together, axes that span the same, and
// tables merged to "this, that, change".

import type {Cell, Figure, ReportDocument, Section, Table} from "../document";
import {draw, known} from "../draw/kinds";
import {defaultView} from "../draw/picture";
import {change} from "../stat";

export interface Pair<T> {
    id: string;
    a?: T;
    b?: T;
}

// In the order of the first, and then what only the second has.
export function pairUp<T extends {id: string}>(a: T[], b: T[]): Pair<T>[] {
    const others = new Map(b.map((t) => [t.id, t]));
    const pairs: Pair<T>[] = a.map((t) => {
        const other = others.get(t.id);
        others.delete(t.id);
        return other ? {id: t.id, a: t, b: other} : {id: t.id, a: t};
    });
    for (const t of others.values()) pairs.push({id: t.id, b: t});
    return pairs;
}

export function pairSections(a: ReportDocument, b: ReportDocument): Pair<Section>[] {
    return pairUp(a.sections, b.sections);
}

function union(
    p: [number, number] | undefined,
    q: [number, number] | undefined,
): {min: number; max: number} | null {
    return p && q ? {min: Math.min(p[0], q[0]), max: Math.max(p[1], q[1])} : null;
}

// The same two figures with axes over the range of both: a higher curve looks higher.
export function shareAxes(a: Figure, b: Figure): [Figure, Figure] {
    if (a.kind !== b.kind || !known(a)) return [a, b];
    if (a.kind === "machine" && b.kind === "machine")
        return [
            {...a, beside: b},
            {...b, beside: a},
        ];
    if (a.kind === "matrix" && b.kind === "matrix")
        return [
            {...a, beside: b},
            {...b, beside: a},
        ];
    const [p, q] = [draw(a, defaultView()).domain, draw(b, defaultView()).domain];
    const [x, y] = [union(p?.x, q?.x), union(p?.y, q?.y)];
    const wider = (f: Figure): Figure => {
        const axes: Record<string, unknown> = {};
        if (x && "x" in f && f.x && !f.x.categories) axes["x"] = {...f.x, ...x};
        if (y && "y" in f && f.y) axes["y"] = {...f.y, ...y};
        return {...f, ...axes} as Figure;
    };
    return [wider(a), wider(b)];
}

function keyOf(t: Table, row: Cell[]): string {
    return JSON.stringify(row.filter((_, i) => isText(t, i)));
}

function isText(t: Table, i: number): boolean {
    const kind = t.columns[i]?.kind;
    return kind ? kind === "text" : t.rows.some((r) => typeof r[i] === "string");
}

// Rows of the same words beside each other, and by how much their numbers differ. Null where the
// tables do not have the same columns or their words do not tell rows apart.
export function mergeTables(a: Table, b: Table, names: [string, string]): Table | null {
    const columns = (t: Table) => JSON.stringify(t.columns.map((c) => [c.name, c.unit ?? ""]));
    const numbers = a.columns.map((_, i) => i).filter((i) => !isText(a, i));
    if (columns(a) !== columns(b) || !numbers.length || numbers.length > 4) return null;
    const theirs = new Map(b.rows.map((r) => [keyOf(b, r), r]));
    const keys = new Set(a.rows.map((r) => keyOf(a, r)));
    if (theirs.size !== b.rows.length || keys.size !== a.rows.length) return null;
    const words = a.columns.map((_, i) => i).filter((i) => isText(a, i));
    const row = (own: Cell[] | undefined, other: Cell[] | undefined): Cell[] => [
        ...words.map((i) => (own ?? other)?.[i] ?? null),
        ...numbers.flatMap((i) => {
            const [p, q] = [own?.[i] ?? null, other?.[i] ?? null];
            const percent = change(p as number | null, q as number | null);
            return [p, q, Number.isNaN(percent) ? null : percent];
        }),
    ];
    return {
        id: `${a.id}-both`,
        title: a.title || a.id,
        columns: [
            ...words.map((i) => a.columns[i] as Table["columns"][number]),
            ...numbers.flatMap((i) => {
                const c = a.columns[i] as Table["columns"][number];
                const of = (name: string) => ({...c, name: `${c.name}, ${name}`, kind: "number" as const});
                return [
                    of(names[0]),
                    of(names[1]),
                    {name: `${c.name}, change`, unit: "%", kind: "number" as const},
                ];
            }),
        ],
        rows: [
            ...a.rows.map((r) => row(r, theirs.get(keyOf(a, r)))),
            ...b.rows.filter((r) => !keys.has(keyOf(b, r))).map((r) => row(undefined, r)),
        ],
    };
}
