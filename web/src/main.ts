// main.ts -- where the page's code begins: in a report, or in the viewer.

import type {ReportDocument} from "./document";
import {h} from "./page/dom";
import {contents, Painter, sectionView, sources, warnings} from "./page/report";
import {themeButton} from "./page/theme";
import {Viewer} from "./viewer/viewer";

// The static page has a style of its own, which would show through.
function dropStaticStyle(): void {
    for (const style of document.querySelectorAll("style"))
        if (style.sheet && !style.textContent?.includes("#weir-app")) style.sheet.disabled = true;
}

function showReport(): void {
    const data = document.getElementById("weir-report");
    if (!data?.textContent) return;
    const doc = JSON.parse(data.textContent) as ReportDocument;
    const painter = new Painter();
    const sections = doc.sections.map((s) => sectionView(s, painter));
    const app = h(
        "div",
        {id: "weir-app"},
        h("a", {class: "skip", href: "#weir-main"}, "Skip to the figures"),
        h(
            "header",
            {class: "top"},
            h("h1", {}, doc.title),
            h("span", {class: "maker"}, doc.made_by ?? ""),
            themeButton(),
        ),
        h(
            "div",
            {class: "columns"},
            contents(doc.sections, (s) => `#${s.id}`),
            h("main", {id: "weir-main", tabindex: -1}, warnings(doc), ...sections, sources(doc.runs ?? [])),
        ),
    );
    // All of it is there before the static part goes.
    const still = document.getElementById("weir-static");
    document.documentElement.classList.add("weir-live");
    dropStaticStyle();
    if (still) still.replaceWith(app);
    else document.body.append(app);
    painter.start();
    void painter.ready.then(() => (document.documentElement.dataset["ready"] = "yes"));
    const wanted =
        location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    wanted?.scrollIntoView();
}

if (document.documentElement.dataset["weir"] === "viewer") new Viewer().start();
else showReport();
