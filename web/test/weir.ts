// weir.ts -- run files from examples/, made by the weir that was built, and what it says about them.

import assert from "node:assert/strict";
import {spawn, spawnSync, type ChildProcess} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, rmSync} from "node:fs";
import {join, resolve} from "node:path";
import type {ReportDocument} from "../src/document";
import {OUT} from "./browser";

export const WEIR = resolve(process.env["WEIR"] || join(OUT, "../weir"));
export const RUNS = join(OUT, "runs");
export const SOURCE = resolve(process.env["WEIR_SOURCE"] || ".");

export function weir(...args: string[]): string {
    const run = spawnSync(WEIR, args, {encoding: "utf8", cwd: SOURCE});
    assert.equal(run.status, 0, `weir ${args.join(" ")}: ${run.stderr}`);
    return run.stdout;
}

// Makes a run file unless an earlier test of this run has.
export function runFile(example: string, name = example, ...more: string[]): string {
    const path = join(RUNS, `${name}.weir`);
    if (!existsSync(path)) weir("run", `examples/${example}.yaml`, "-o", path, ...more);
    return path;
}

export function cleanRuns(): void {
    rmSync(RUNS, {recursive: true, force: true});
    mkdirSync(RUNS, {recursive: true});
}

// The rows of a query, all as text.
export function query(path: string, sql: string): string[][] {
    const lines = weir("query", path, sql, "--csv").trim().split(/\r?\n/);
    return lines.slice(1).map((line) => line.split(","));
}

export function documentIn(html: string): ReportDocument {
    const found = /<script type="application\/json" id="weir-report">(.*?)<\/script>/s.exec(
        readFileSync(html, "utf8"),
    );
    assert.ok(found?.[1], `${html} holds no document`);
    return JSON.parse(found[1]) as ReportDocument;
}

export interface Served {
    url: string; // as it was printed
    base: string; // without query
    stop(): Promise<void>;
}

const children = new Set<ChildProcess>();

// What a failed test has left behind would keep this process from ending.
export function stopAll(): void {
    for (const child of children) child.kill("SIGKILL");
}
process.on("exit", stopAll);

// `weir serve` on a port of its own; the address it prints is where it is.
export async function serve(...args: string[]): Promise<Served> {
    const child: ChildProcess = spawn(WEIR, ["serve", "--port", "0", ...args], {cwd: SOURCE});
    children.add(child);
    let said = "";
    const url = await new Promise<string>((found, failed) => {
        const hear = (part: Buffer) => {
            said += part.toString();
            const address = /https?:\/\/[^\s"']+/.exec(said)?.[0];
            if (address) found(address);
        };
        child.stdout?.on("data", hear);
        child.stderr?.on("data", hear);
        child.on("exit", (code) => failed(new Error(`weir serve ended with ${code}: ${said}`)));
    });
    const ended = new Promise<void>((done) =>
        child.on("exit", () => {
            children.delete(child);
            done();
        }),
    );
    const stop = async () => {
        child.kill("SIGINT");
        await ended;
    };
    return {url, base: url.replace(/\/?(\?.*)?$/, ""), stop};
}
