// stat.ts -- the few numbers that the page makes itself; everything else comes from the C side.

import type {Num} from "./document";

export function mean(values: Num[]): number {
    let sum = 0;
    let n = 0;
    for (const v of values)
        if (v !== null && Number.isFinite(v)) {
            sum += v;
            n++;
        }
    return n ? sum / n : NaN;
}

// The quantile of a sample, between the two values nearest to it (type 7 of Hyndman and Fan).
export function quantile(values: number[], q: number): number {
    const sorted = values.filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
    if (!sorted.length) return NaN;
    const at = (sorted.length - 1) * Math.max(0, Math.min(1, q));
    const low = Math.floor(at);
    const high = Math.min(sorted.length - 1, low + 1);
    return (sorted[low] as number) + ((sorted[high] as number) - (sorted[low] as number)) * (at - low);
}

// By how many percent b differs from a; NaN where that says nothing.
export function change(a: Num | undefined, b: Num | undefined): number {
    if (typeof a !== "number" || typeof b !== "number" || !Number.isFinite(a + b)) return NaN;
    if (a === b) return 0;
    return a === 0 ? NaN : ((b - a) / Math.abs(a)) * 100;
}
