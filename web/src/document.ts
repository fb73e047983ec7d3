// document.ts -- the report document: what the C side makes of run files and this code draws.
//
// docs/formats/report.md describes it. Numbers are numbers, missing is null, and points are arrays,
// never objects. Nothing here knows where a document came from.

export type Num = number | null;

export interface Axis {
    label?: string;
    unit?: string;
    scale?: "linear" | "log";
    min?: Num;
    max?: Num;
    categories?: string[];
}

interface FigureBase {
    id: string;
    title: string;
    desc?: string;
    table?: string | null;
    inks?: Record<string, number>; // the colour of each name, the same in the whole document
}

export interface Series {
    name: string;
    x: Num[];
    y: Num[];
    low?: Num[];
    high?: Num[];
    open?: (boolean | number)[];
    style?: "curve" | "line" | "marks" | "steps" | "guide" | "area" | "fan";
}

export interface Mark {
    x?: Num;
    y?: Num;
    label: string;
}

export interface Band {
    x0: number;
    x1: number;
    label: string;
}

export interface LinesFigure extends FigureBase {
    kind: "lines";
    x: Axis;
    y: Axis;
    series: Series[];
    marks?: Mark[];
    bands?: Band[];
    open_means?: string;
}

export interface Box {
    name: string;
    group?: string;
    min: Num;
    q1: Num;
    median: Num;
    q3: Num;
    max: Num;
    mean?: Num;
    n?: Num;
}

export interface BoxesFigure extends FigureBase {
    kind: "boxes";
    x?: Axis;
    y: Axis;
    boxes: Box[];
}

export interface Bar {
    name: string;
    group?: string;
    parts: {name: string; value: Num}[];
}

export interface BarsFigure extends FigureBase {
    kind: "bars";
    x?: Axis;
    y: Axis;
    bars: Bar[];
}

export interface MachineGroup {
    id: number | string;
    label: string;
    x?: Num;
    y?: Num;
    jobs?: {name: string; ranks?: Num}[];
}

export interface MachineLink {
    a: number | string;
    b: number | string;
    class: string;
    n?: Num;
    load: Num[];
    sat?: Num[];
}

export interface MachineFigure extends FigureBase {
    kind: "machine";
    groups: MachineGroup[];
    links: MachineLink[];
    slices?: {n: number; dt_ns: number};
    beside?: MachineFigure | undefined; // not in documents: colours mean the same in both
}

export interface MatrixFigure extends FigureBase {
    kind: "matrix";
    x?: Axis;
    y?: Axis;
    rows: string[];
    cols: string[];
    values: Num[];
    unit?: string;
    beside?: MatrixFigure | undefined; // as of a machine
}

export interface SequenceStep {
    t0: number;
    t1: number;
    lane: number;
    to?: Num;
    label: string;
    class?: string;
}

export interface SequenceFigure extends FigureBase {
    kind: "sequence";
    x?: Axis;
    lanes: string[];
    steps: SequenceStep[];
}

export type Figure = LinesFigure | BoxesFigure | BarsFigure | MachineFigure | MatrixFigure | SequenceFigure;

export type Cell = string | number | boolean | null;

export interface Column {
    name: string;
    unit?: string;
    kind?: "text" | "number";
}

export interface Table {
    id: string;
    title?: string;
    columns: Column[];
    rows: Cell[][];
}

export interface Section {
    id: string;
    group?: string;
    title: string;
    says?: string;
    figures?: Figure[];
    tables?: Table[];
}

export interface Run {
    id: number | string;
    name: string;
    path?: string;
    kind?: string;
    complete?: boolean;
    title?: string;
    status?: string;
    facts?: Record<string, Cell>;
}

export interface ReportDocument {
    weir_report: number;
    title: string;
    made_by?: string;
    runs?: Run[];
    sections: Section[];
    warnings?: string[];
}
