// node web/test/run.mjs OUTDIR unit|e2e [NAME] -- bundles a test of this folder and runs it, or those of a name.
import * as esbuild from "esbuild";
import {spawnSync} from "node:child_process";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [out, which, name] = process.argv.slice(2);
if (!out || !which) {
    console.error("say where to and what: node web/test/run.mjs OUTDIR unit");
    process.exit(2);
}
const outfile = join(out, `${which}.test.mjs`);
await esbuild.build({
    entryPoints: [join(here, `${which}.test.ts`)],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
    outfile,
    plugins: [
        {
            // Packages are found from this folder, wherever the bundle lies.
            name: "packages",
            setup(build) {
                const path = join(here, "../node_modules/playwright-core/index.mjs");
                build.onResolve({filter: /^playwright-core$/}, () => ({path, external: true}));
            },
        },
    ],
});
const run = spawnSync(process.execPath, ["--test", ...(name ? ["--test-name-pattern", name] : []), outfile], {
    stdio: "inherit",
});
process.exit(run.status ?? 1);
