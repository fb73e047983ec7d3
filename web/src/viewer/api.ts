// api.ts -- what the viewer asks `weir serve`. docs/formats/report.md lists the addresses.

import type {ReportDocument} from "../document";

export interface RunRow {
    id: string;
    name: string;
    dir?: string;
    kind?: string;
    status?: string;
    title?: string;
    started?: string;
    seed?: string | number;
    study?: string;
    choices?: Record<string, string>;
    bytes?: number;
}

export interface StudyRow {
    id: string;
    name: string;
    kind?: string; // study or experiment
    runs: number;
    complete: number;
    running?: number;
}

export interface RunList {
    weir_runs: number;
    allow_run: boolean;
    runs: RunRow[];
    studies?: StudyRow[];
}

export interface Progress {
    runs: {id: string; status: string; progress?: number | null; of?: string; sim_ns?: number | null}[];
    studies?: {id: string; runs: number; complete: number; running?: number}[];
}

export interface StudyFile {
    id: string;
    name: string;
    text: string;
}

// The token of the page's own address goes with everything that is asked; links to views keep it there.
function token(): string | null {
    return new URLSearchParams(location.search).get("token");
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
    const secret = token();
    const headers = new Headers(init.headers);
    if (secret) headers.set("Authorization", `Bearer ${secret}`);
    let answer: Response;
    try {
        answer = await fetch(path, {...init, headers, cache: "no-store"});
    } catch {
        throw new Error("`weir serve` does not answer; start it again and reload this page");
    }
    const text = await answer.text();
    let data: unknown = null;
    try {
        data = JSON.parse(text);
    } catch {
        // said below
    }
    if (!answer.ok) {
        const said = (data as {error?: string} | null)?.error;
        const hint =
            answer.status === 401 || answer.status === 403
                ? " (open the address that `weir serve` printed)"
                : "";
        throw new Error(said ?? `\`weir serve\` answered ${answer.status} to ${path}${hint}`);
    }
    if (data === null)
        throw new Error(
            `what \`weir serve\` answered to ${path} is not JSON; do page and program have one version?`,
        );
    return data as T;
}

export const getRuns = () => ask<RunList>("/api/runs");
export const getProgress = () => ask<Progress>("/api/progress");
export const getStudies = () => ask<{studies: StudyFile[]}>("/api/study");

export function getReport(runs: string[], dir = ""): Promise<ReportDocument> {
    const params = new URLSearchParams();
    for (const run of runs) params.append("run", run);
    if (dir) params.set("dir", dir);
    return ask<ReportDocument>(`/api/report?${params.toString()}`);
}

export function startStudy(
    study: string,
    set: Record<string, string>,
    name: string,
): Promise<{name?: string; log?: string; waits?: boolean}> {
    return ask("/api/study", {
        method: "POST",
        headers: {"Content-Type": "application/json"},
        body: JSON.stringify({study, set, name}),
    });
}
