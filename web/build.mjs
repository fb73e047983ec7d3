// node web/build.mjs OUTDIR -- the page's code as two files: OUTDIR/weir_js.js and OUTDIR/weir_css.css.
//
// CMake calls this and puts both into the program (cmake/web.cmake).
import * as esbuild from "esbuild";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const MOST = 150_000; // bytes of both together: they are in every report
const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
    console.error("say where to: node web/build.mjs OUTDIR");
    process.exit(2);
}

const common = {
    bundle: true,
    minify: true,
    charset: "ascii", // the same letters whatever encoding a page says it has
    legalComments: "none",
    logLevel: "warning",
    target: ["es2020"],
};
const [js, css] = ["weir_js.js", "weir_css.css"].map((name) => join(out, name));
try {
    await esbuild.build({...common, entryPoints: [join(here, "src/main.ts")], format: "iife", outfile: js});
    await esbuild.build({...common, entryPoints: [join(here, "src/style.css")], outfile: css});
} catch {
    process.exit(1); // esbuild has said where and why
}

const text = readFileSync(js, "utf8") + readFileSync(css, "utf8");
if (text.length > MOST) {
    console.error(`the page's code has ${text.length} bytes, more than ${MOST}; take something out`);
    process.exit(1);
}
if (/<\/(script|style)|<!--/i.test(text)) {
    console.error("the page's code holds what would end the element it stands in; write it in two pieces");
    process.exit(1);
}
