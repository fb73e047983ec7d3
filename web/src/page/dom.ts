// dom.ts -- elements of HTML in one expression. Text is always text, never markup.

type Kid = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | undefined | ((e: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    props: Props = {},
    ...kids: Kid[]
): HTMLElementTagNameMap[K] {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
        if (typeof value === "function") node.addEventListener(name, value);
        else if (value === true) node.setAttribute(name, "");
        else if (value !== undefined && value !== false) node.setAttribute(name, String(value));
    }
    for (const kid of kids) if (kid) node.append(kid);
    return node;
}

export function download(name: string, type: string, text: string): void {
    const url = URL.createObjectURL(new Blob([text], {type}));
    const link = h("a", {href: url, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A name that every file system takes.
export function fileName(text: string, end: string): string {
    const plain = text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "");
    return `${plain.slice(0, 80) || "figure"}.${end}`;
}
