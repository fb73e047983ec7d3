// theme.ts -- light or dark: as the system says, until the reader chooses.

import {h} from "./dom";

const CHOICES = ["auto", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

function kept(): Choice {
    try {
        const v = localStorage.getItem("weir-theme");
        return CHOICES.find((c) => c === v) ?? "auto";
    } catch {
        return "auto"; // pages at file: addresses may have no storage
    }
}

export function themeButton(): HTMLElement {
    let choice = kept();
    const button = h("button", {type: "button", class: "theme"});
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
        document.documentElement.dataset["theme"] =
            choice !== "auto" ? choice : system.matches ? "dark" : "light";
        button.textContent = `Colours: ${choice}`;
        try {
            localStorage.setItem("weir-theme", choice);
        } catch {
            // then it lasts as long as the page
        }
    };
    button.addEventListener("click", () => {
        choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length] as Choice;
        apply();
    });
    system.addEventListener("change", apply);
    apply();
    return button;
}
