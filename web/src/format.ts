// format.ts -- numbers for people. CSV and data keep all digits; these do not.

import type {Cell, Num} from "./document";

const NARROW = "\u202f"; // between thousands
const MINUS = "\u2212";

function grouped(digits: string): string {
    const [whole = "", fraction] = digits.split(".");
    const few = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, NARROW) : whole;
    return fraction === undefined ? few : `${few}.${fraction}`;
}

// A number with about `digits` significant digits, without trailing zeros.
export function number(v: Num | undefined, digits = 4): string {
    if (v === null || v === undefined || Number.isNaN(v)) return "\u2013";
    if (!Number.isFinite(v)) return v > 0 ? "\u221e" : MINUS + "\u221e";
    const size = Math.abs(v);
    if (size === 0) return "0";
    let text: string;
    if (size >= 1e9 || size < 1e-4) {
        const [lead = "", power = ""] = size.toExponential(digits - 1).split("e");
        text = `${trim(lead)}e${Number(power)}`;
    } else if (size >= Math.pow(10, digits - 1)) {
        text = grouped(String(Math.round(size)));
    } else {
        text = grouped(trim(size.toPrecision(digits)));
    }
    return (v < 0 ? MINUS : "") + text;
}

function trim(text: string): string {
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const PREFIXES: [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
];

// Short, for ticks: 1.5 M, 20 k, 0.001.
export function compact(v: number): string {
    const size = Math.abs(v);
    const sign = v < 0 ? MINUS : "";
    if (size === 0) return "0";
    if (size >= 1e15 || size < 1e-4) {
        const [lead = "", power = ""] = size.toExponential(3).split("e");
        const digits = trim(lead);
        return sign + (digits === "1" ? `1e${Number(power)}` : `${digits}e${Number(power)}`);
    }
    if (size < 10000) return sign + trim(size.toPrecision(6));
    for (const [factor, name] of PREFIXES)
        if (size >= factor) return `${sign}${trim((size / factor).toPrecision(5))}${NARROW}${name}`;
    return sign + trim(size.toPrecision(4));
}

// Plain digits of such a tick would crowd an axis.
export function crowded(v: number): boolean {
    return Math.abs(v) >= 10000 || (v !== 0 && Math.abs(v) < 1e-4);
}

const SI: [number, string][] = [
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
    [1e-3, "m"],
    [1e-6, "u"],
    [1e-9, "n"],
    [1e-12, "p"],
];

// A tick with its unit and the prefix that suits it: 60000 us is 60 ms. Null for units that take no
// prefix.
export function prefixed(v: number, unit: string): string | null {
    const parts = /^([PTGMkmunp]?)(s|B|B\/s)$/.exec(unit);
    if (!parts) return null;
    if (v === 0) return "0";
    const [, prefix, base] = parts;
    const all = v * (SI.find(([, name]) => name === prefix)?.[0] ?? 1);
    const [factor, name] = SI.find(([f]) => Math.abs(all) >= f * (1 - 1e-9)) ?? [1e-12, "p"];
    const sign = v < 0 ? MINUS : "";
    return `${sign}${trim((Math.abs(all) / factor).toPrecision(5))}${NARROW}${name}${base}`;
}

const SCALED: Record<string, [number, string][]> = {
    ns: [
        [1e9, "s"],
        [1e6, "ms"],
        [1e3, "\u00b5s"],
        [1, "ns"],
    ],
    B: [
        [1e12, "TB"],
        [1e9, "GB"],
        [1e6, "MB"],
        [1e3, "kB"],
        [1, "B"],
    ],
    "B/s": [
        [1e12, "TB/s"],
        [1e9, "GB/s"],
        [1e6, "MB/s"],
        [1e3, "kB/s"],
        [1, "B/s"],
    ],
};

// A value with its unit: 1 500 000 ns is 1.5 ms. A fraction is a percentage only where it says so.
export function quantity(v: Num | undefined, unit = "", digits = 4): string {
    if (v === null || v === undefined || Number.isNaN(v)) return "\u2013";
    const rows = SCALED[unit];
    const size = Math.abs(v);
    if (rows && size > 0)
        for (const [factor, name] of rows)
            if (size >= factor) return `${number(v / factor, digits)}\u00a0${name}`;
    return unit && unit !== "1" && unit !== "fraction"
        ? `${number(v, digits)}\u00a0${unit}`
        : number(v, digits);
}

export function cell(v: Cell | undefined): string {
    if (v === null || v === undefined) return "\u2013";
    if (typeof v === "number") return number(v, 6);
    return String(v);
}

// "time", "ns" -> "time (ns)"
export function named(label = "", unit = ""): string {
    if (!unit || label.endsWith(`(${unit})`)) return label;
    return label ? `${label} (${unit})` : unit;
}
