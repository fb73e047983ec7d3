// tree.ts -- a picture as plain data: elements with attributes, children and text.
//
// One drawing is shown in the page (toDom) and saved as a file (toText), and tests look at it without
// a browser. Colours and widths are attributes for light ground, as every program that reads SVG
// understands them; in the page the classes' style sheet takes their place.

export type Attrs = Record<string, string | number | undefined>;

export interface Shape {
    tag: string;
    attrs: Attrs;
    kids: Shape[];
    text?: string;
}

export function el(tag: string, attrs: Attrs = {}, kids: (Shape | null | undefined)[] = []): Shape {
    return {tag, attrs, kids: kids.filter((k): k is Shape => !!k)};
}

export function label(text: string, x: number, y: number, attrs: Attrs = {}): Shape {
    return {tag: "text", attrs: {x: round(x), y: round(y), ...attrs}, kids: [], text};
}

export function round(v: number): number {
    return Math.round(v * 100) / 100;
}

const NS = "http://www.w3.org/2000/svg";

export function toDom(shape: Shape, doc: Document = document): SVGElement {
    const node = doc.createElementNS(NS, shape.tag) as SVGElement;
    for (const [name, value] of Object.entries(shape.attrs))
        if (value !== undefined) node.setAttribute(name, String(value));
    if (shape.text !== undefined) node.textContent = shape.text;
    for (const kid of shape.kids) node.appendChild(toDom(kid, doc));
    return node;
}

const ENTITIES: Record<string, string> = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"};

export function escape(text: string): string {
    // XML has no other control characters than these.
    return text
        .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "?")
        .replace(/[&<>"]/g, (c) => ENTITIES[c] as string);
}

// Text of the shape as XML. Classes say nothing outside the page and are left out.
export function toText(shape: Shape): string {
    const attrs = Object.entries(shape.attrs)
        .filter(([name, value]) => value !== undefined && name !== "class" && !name.startsWith("data-"))
        .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
        .join("");
    const inner = (shape.text !== undefined ? escape(shape.text) : "") + shape.kids.map(toText).join("");
    return inner ? `<${shape.tag}${attrs}>${inner}</${shape.tag}>` : `<${shape.tag}${attrs}/>`;
}

// About how wide text is drawn, in pixels at 13 px; enough to keep labels apart.
export function textWidth(text: string, size = 13): number {
    let units = 0;
    for (const c of text)
        units += /[mwMW%@+=<>~#]/.test(c)
            ? 0.86
            : /[iljtf.,:;|!'()[\] ]/.test(c)
              ? 0.34
              : /[A-Z0-9]/.test(c)
                ? 0.66
                : 0.59;
    return units * size;
}

export function shorten(text: string, width: number, size = 13): string {
    if (textWidth(text, size) <= width) return text;
    let n = text.length;
    while (n > 1 && textWidth(text.slice(0, n) + "\u2026", size) > width) n--;
    return text.slice(0, n) + "\u2026";
}
