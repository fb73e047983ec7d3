// study.ts -- the form that starts a study, where `weir serve --allow-run` lets it.

import {h} from "../page/dom";
import {getStudies, startStudy, type StudyFile} from "./api";

// Keys of the runs' configuration that a study's file speaks of ("machine.routing", "traffic.load=10%"), with
// what it says: what to offer while the user types. The program itself says what it does not take.
export function keysOf(text: string): [string, string][] {
    const keys = new Map<string, string>();
    const plain = text.replace(/(^|\s)#.*$/gm, "");
    for (const [, key = "", value = ""] of plain.matchAll(
        /(?<![\w./-])([a-z_]+(?:\.[\w*]+)+)(?:=([^\s,\]}]+))?/g,
    ))
        if (!/\.(ya?ml|ncptl|goal|csv|weir)$/.test(key) && !keys.get(key)) keys.set(key, value);
    return [...keys];
}

export class StudyView {
    readonly root = h("div", {class: "study-form"});
    private readonly said = h("p", {class: "said", role: "status", "aria-live": "polite"});
    private readonly rows = h("div", {class: "changes"});
    private readonly text = h("pre", {class: "study-text", tabindex: 0, "aria-label": "the study's file"});
    private readonly keys = h("datalist", {id: "study-keys"});
    private readonly name = h("input", {
        type: "text",
        name: "name",
        required: true,
        pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*",
        placeholder: "my-study",
    });
    private readonly which = h("select", {name: "study"});
    private files: StudyFile[] = [];

    constructor(private readonly started: () => void) {
        const form = h(
            "form",
            {
                submit: (e) => {
                    e.preventDefault();
                    void this.start();
                },
            },
            h(
                "p",
                {},
                "Choose a study, change what should differ in all of its runs, and start it. `weir config explain` lists the keys. The runs appear in the list as they are made.",
            ),
            h("label", {}, "Study", this.which),
            h("label", {}, "Name of the new study", this.name),
            h(
                "fieldset",
                {},
                h("legend", {}, "Changes"),
                this.rows,
                h("button", {type: "button", click: () => this.addRow()}, "One more change"),
            ),
            this.keys,
            h("div", {class: "tools"}, h("button", {type: "submit", class: "start"}, "Start the study")),
            this.said,
        );
        this.root.append(form, this.text);
        this.which.addEventListener("change", () => this.show());
        this.addRow();
        void this.load();
    }

    private async load(): Promise<void> {
        try {
            this.files = (await getStudies()).studies;
            this.which.replaceChildren(...this.files.map((f) => h("option", {value: f.id}, f.name || f.id)));
            this.said.textContent = this.files.length
                ? ""
                : "No study's file is in the directories that are served; give one to `weir serve`.";
            this.show();
        } catch (e) {
            this.said.textContent = (e as Error).message;
        }
    }

    private show(): void {
        const file = this.files.find((f) => f.id === this.which.value);
        this.text.textContent = file?.text ?? "";
        this.keys.replaceChildren(
            ...keysOf(file?.text ?? "").map(([key, value]) => h("option", {value: key}, value)),
        );
    }

    private addRow(): void {
        const row = h(
            "div",
            {class: "change"},
            h("input", {
                type: "text",
                class: "key",
                list: "study-keys",
                placeholder: "key",
                "aria-label": "key",
            }),
            h("span", {"aria-hidden": "true"}, "="),
            h("input", {type: "text", class: "value", placeholder: "value", "aria-label": "value"}),
        );
        this.rows.append(row);
    }

    private async start(): Promise<void> {
        const set: Record<string, string> = {};
        for (const row of this.rows.querySelectorAll(".change")) {
            const key = row.querySelector<HTMLInputElement>(".key")?.value.trim() ?? "";
            if (key) set[key] = row.querySelector<HTMLInputElement>(".value")?.value.trim() ?? "";
        }
        this.said.textContent = "Starting\u2026";
        try {
            const {name, log, waits} = await startStudy(this.which.value, set, this.name.value.trim());
            const begun = waits ? "Waits for others to end:" : "Started";
            this.said.textContent = `${begun} ${name ?? ""}: its runs come into the list; what it prints is in ${log ?? "its log"}.`;
            this.started();
        } catch (e) {
            this.said.textContent = (e as Error).message;
        }
    }
}
