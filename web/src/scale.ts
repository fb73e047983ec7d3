// scale.ts -- from values to places on an axis, and the ticks between.
//
// A scale maps [min, max] to [0, 1]; whoever draws stretches that. Values that have no place (zero
// on a logarithmic axis, null) are NaN and break a line.

import type {Axis, Num} from "./document";
import {compact, crowded, prefixed} from "./format";

export interface Scale {
    min: number;
    max: number;
    log: boolean;
    ticks: number[];
    at(v: Num | undefined): number;
    back(place: number): number;
    label(tick: number): string;
    unit: string; // for the name of the axis; none where the labels have it
}

// Steps of 1, 2 or 5 times a power of ten, at most `most` of them.
export function niceStep(span: number, most: number): number {
    if (!(span > 0) || !Number.isFinite(span)) return 1;
    const raw = span / Math.max(1, most);
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const lead = raw / power;
    const nice = lead <= 1 + 1e-9 ? 1 : lead <= 2 + 1e-9 ? 2 : lead <= 5 + 1e-9 ? 5 : 10;
    return nice * power;
}

export function linearTicks(min: number, max: number, most: number): number[] {
    const step = niceStep(max - min, most);
    const ticks: number[] = [];
    // Whole multiples, so that 0.1 + 0.2 does not appear as 0.30000000000000004.
    const inverse = step < 1 ? Math.round(1 / step) : 0;
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i++) {
        ticks.push((inverse ? i / inverse : i * step) + 0); // and no -0
        if (ticks.length > 1000) break;
    }
    return ticks;
}

// Powers of ten; with few of them also 2 and 5 times these; with very many only every so manieth.
export function logTicks(min: number, max: number, most: number): number[] {
    const low = Math.floor(Math.log10(min) + 1e-9);
    const high = Math.ceil(Math.log10(max) - 1e-9);
    const decades = Math.log10(max / min);
    const leads = decades <= most / 3 ? [1, 2, 5] : decades <= most / 2 ? [1, 3] : [1];
    const stride = Math.max(1, Math.ceil((high - low) / most));
    const ticks: number[] = [];
    for (let e = low; e <= high; e += stride)
        for (const lead of leads) {
            const v = e < 0 ? lead / Math.pow(10, -e) : lead * Math.pow(10, e);
            if (v >= min * (1 - 1e-9) && v <= max * (1 + 1e-9)) ticks.push(v);
        }
    return ticks.length >= 2 ? ticks : linearTicks(min, max, most).filter((v) => v > 0);
}

export function extent(values: Iterable<Num | undefined>, positive = false): [number, number] | null {
    let low = Infinity;
    let high = -Infinity;
    for (const v of values) {
        if (v === null || v === undefined || !Number.isFinite(v) || (positive && v <= 0)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
    }
    return low <= high ? [low, high] : null;
}

function makeScale(min: number, max: number, log: boolean, ticks: number[], unit = ""): Scale {
    const own = ticks.some(crowded) && prefixed(1, unit) !== null;
    const from = log ? Math.log(min) : min;
    const span = (log ? Math.log(max) : max) - from;
    return {
        min,
        max,
        log,
        ticks,
        at: (v) =>
            v === null || v === undefined || (log && v <= 0) ? NaN : ((log ? Math.log(v) : v) - from) / span,
        back: (place) => (log ? Math.exp(from + place * span) : from + place * span),
        label: (tick) => (own ? prefixed(tick, unit) : null) ?? compact(tick),
        unit: own ? "" : unit,
    };
}

// The scale of an axis for these values. `zero`: a linear axis begins at 0 unless it was told where.
export function scaleFor(axis: Axis | undefined, values: Num[], most: number, zero = false): Scale {
    const positive = extent(values, true);
    const log = axis?.scale === "log" && positive !== null;
    let [min, max] = (log ? positive : extent(values)) ?? [0, 1];
    if (zero && !log) {
        min = Math.min(0, min);
        max = Math.max(0, max);
    }
    const told = (v: Num | undefined) => typeof v === "number" && Number.isFinite(v) && (!log || v > 0);
    if (told(axis?.min)) min = axis!.min as number;
    if (told(axis?.max)) max = axis!.max as number;
    if (!(max > min)) {
        const middle = min;
        const pad = log ? 0 : Math.abs(middle) * 0.1 || 1;
        min = log ? middle / 2 : zero && middle >= 0 && !told(axis?.min) ? 0 : middle - pad;
        max = log ? middle * 2 : middle + pad;
    }
    if (log) {
        // A little air, so that no mark sits on the frame.
        if (!told(axis?.min)) min /= Math.pow(max / min, 0.03);
        if (!told(axis?.max)) max *= Math.pow(max / min, 0.03);
        return makeScale(min, max, true, logTicks(min, max, most), axis?.unit);
    }
    const step = niceStep(max - min, most);
    if (!told(axis?.min)) min = Math.floor(min / step + 1e-9) * step;
    if (!told(axis?.max)) max = Math.ceil(max / step - 1e-9) * step;
    return makeScale(min, max, false, linearTicks(min, max, most), axis?.unit);
}

// Indices of the points that are enough to draw a line `columns` wide: of each column the first,
// the lowest, the highest and the last. x must not fall.
export function thin(x: Num[], y: Num[], columns: number): number[] {
    const all = Math.min(x.length, y.length);
    const every = Array.from({length: all}, (_, i) => i);
    const range = extent(x);
    if (all <= columns * 4 || !range || range[0] === range[1]) return every;
    for (let i = 1; i < all; i++) if ((x[i] ?? -Infinity) < (x[i - 1] ?? -Infinity)) return every;
    const kept: number[] = [];
    const column = (i: number) =>
        Math.floor((((x[i] ?? range[0]) - range[0]) / (range[1] - range[0])) * columns);
    for (let i = 0; i < all;) {
        let end = i + 1;
        while (end < all && column(end) === column(i)) end++;
        let low = i;
        let high = i;
        const holes: number[] = [];
        for (let j = i; j < end; j++) {
            const v = y[j];
            if (v === null || v === undefined) {
                holes.push(j);
                continue;
            }
            if (v < (y[low] ?? Infinity)) low = j;
            if (v > (y[high] ?? -Infinity)) high = j;
        }
        const few = new Set([i, low, high, end - 1]);
        if (holes[0] !== undefined) few.add(holes[0]);
        kept.push(...[...few].sort((a, b) => a - b));
        i = end;
    }
    return kept;
}

// The index of the value nearest to v in values that do not fall; -1 if there is none.
export function nearest(values: number[], v: number): number {
    if (!values.length) return -1;
    let low = 0;
    let high = values.length - 1;
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if ((values[middle] as number) <= v) low = middle;
        else high = middle;
    }
    return v - (values[low] as number) <= (values[high] as number) - v ? low : high;
}
