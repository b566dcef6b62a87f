// Lines over tiles or steps (uPlot): stacked or not, a limit, a cursor that arrow keys move and Enter chooses.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { count, short_bytes } from "../format.ts";
import { current, set } from "../state.ts";
import "uplot/dist/uPlot.min.css";

export interface Line {
  title: string;
  colour: string;
  values: ArrayLike<number>;
  /** Not part of the stack: a line of its own (a limit, a total). */
  alone?: boolean;
  dash?: number[];
}

interface Props {
  /** Where the fragment keeps what is shown of x: `id`=from,to. */
  id: string;
  title: string;
  lines: Line[];
  stacked?: boolean;
  /** x of each value; without it their numbers. */
  x?: ArrayLike<number>;
  x_title: string;
  x_text?: (x: number) => string;
  text: (value: number) => string;
  height?: number;
  /** Values stand until the next one. */
  steps?: boolean;
  mark?: number | undefined;
  mark2?: number | undefined;
  on_pick?: (index: number) => void;
  on_cursor?: (index: number | undefined) => void;
}

const kMaxPoints = 20_000;
const kBinarySteps = Array.from({ length: 50 }, (_, k) => 2 ** k);

/** Many values as fewer that keep the peaks: of each group the greatest. Returns which are kept. */
export function kept_points(lines: Line[], n: number, at_most = kMaxPoints): Uint32Array {
  if (n <= at_most) return Uint32Array.from({ length: n }, (_, i) => i);
  const groups = at_most, kept = new Uint32Array(groups);
  for (let g = 0; g < groups; ++g) {
    const begin = Math.floor((g * n) / groups), end = Math.floor(((g + 1) * n) / groups);
    let best = begin, most = -Infinity;
    for (let i = begin; i < end; ++i) {
      let sum = 0;
      for (const l of lines) sum += l.values[i] ?? 0;
      if (sum > most) (most = sum), (best = i);
    }
    kept[g] = best;
  }
  return kept;
}

const kBucket = 4; // pixels

/** A line of its own among many values (a limit, a total): the greatest of what falls on a few pixels, so that it does not cover what it belongs to. */
const envelope: uPlot.Series.PathBuilder = (u, series, i0, i1) => {
  const x = u.data[0], y = u.data[series]!, stroke = new Path2D(), bucket = kBucket * devicePixelRatio;
  let from = -Infinity, most = -Infinity;
  const put = (to: number) => {
    if (most === -Infinity) return;
    const py = u.valToPos(most, "y", true);
    stroke.lineTo(from, py), stroke.lineTo(to, py);
  };
  for (let i = i0; i <= i1; ++i) {
    const px = u.valToPos(x[i]!, "x", true);
    if (px - from >= bucket) put(px), (from = px), (most = -Infinity);
    most = Math.max(most, y[i] ?? -Infinity);
  }
  put(u.valToPos(x[i1]!, "x", true));
  return { stroke };
};

/** uPlot, on a canvas that the processor draws. On an emulated graphics card the fills of a stack take minutes, in which the page gets no frame. */
function drawn_by_processor(options: uPlot.Options, data: uPlot.AlignedData, box: HTMLElement): uPlot {
  const prototype = HTMLCanvasElement.prototype, get = prototype.getContext;
  // uPlot makes its canvas itself.
  prototype.getContext = function (this: HTMLCanvasElement, kind: string, settings?: object) {
    return get.call(this, kind as "2d", { ...settings, willReadFrequently: true });
  } as typeof get;
  try {
    return new uPlot(options, data, box);
  } finally {
    prototype.getContext = get;
  }
}

export function Plot(props: Props) {
  const box = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null), latest = useRef(props);
  latest.current = props;
  const n = props.lines.reduce((m, l) => Math.max(m, l.values.length), 0);
  const kept = useMemo(() => kept_points(props.lines, n), [props.lines, n]);
  useEffect(() => {
    const style = getComputedStyle(box.current!);
    const ink = style.color, grid = style.getPropertyValue("--line");
    const stacked = props.lines.filter((l) => !l.alone), alone = props.lines.filter((l) => l.alone);
    const x = Array.from(kept, (i) => (props.x ? props.x[i]! : i));
    const raw = [...stacked, ...alone].map((l) => Array.from(kept, (i) => l.values[i] ?? 0));
    const drawn = raw.map((r) => r.slice());
    if (props.stacked) for (let s = 1; s < stacked.length; ++s) for (let i = 0; i < x.length; ++i) drawn[s]![i]! += drawn[s - 1]![i]!;
    // A stack is drawn from its top down: what lies below covers.
    const order = props.stacked ? [...stacked.keys()].reverse().concat(alone.map((_, i) => stacked.length + i)) : [...raw.keys()];
    const paths = props.steps ? uPlot.paths.stepped!({ align: 1 }) : uPlot.paths.linear!();
    const all = [...stacked, ...alone];
    let remember = 0;
    const options: uPlot.Options = {
      width: Math.max(200, box.current!.clientWidth),
      height: props.height ?? 260,
      cursor: { drag: { x: true, y: false }, focus: { prox: -1 }, points: { show: false } },
      legend: { live: true },
      scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.04 : 1] } },
      axes: [
        { stroke: ink, grid: { stroke: grid, width: 0.5 }, ticks: { stroke: grid }, label: props.x_title, labelSize: 20, size: 34, font: "12px sans-serif", labelFont: "12px sans-serif",
          values: (_u: uPlot, v: number[]) => v.map((x) => (props.x_text ?? count)(x)), incrs: props.x ? undefined! : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6] },
        { stroke: ink, grid: { stroke: grid, width: 0.5 }, ticks: { stroke: grid }, size: 74, font: "12px sans-serif", values: (_u, v) => v.map(props.text), ...(props.text === short_bytes ? { incrs: kBinarySteps } : {}) },
      ],
      series: [
        { label: props.x_title, value: (_u, v) => (v == null ? "–" : props.x_text ? props.x_text(v) : String(v)) },
        ...order.map((k) => ({
          label: all[k]!.title,
          stroke: all[k]!.colour,
          ...(all[k]!.dash ? { dash: all[k]!.dash } : {}),
          ...(props.stacked && !all[k]!.alone ? { fill: all[k]!.colour } : {}),
          width: all[k]!.alone ? 1.5 : props.stacked ? 0.5 : 1.5,
          paths: all[k]!.alone && x.length > 500 ? envelope : paths,
          points: { show: false },
          value: (_u: uPlot, _v: number, _s: number, i: number | null) => (i == null ? "–" : props.text(raw[k]![i]!)),
        })),
      ],
      hooks: {
        setScale: [
          (u, key) => {
            const { min, max } = u.scales["x"]!, whole = min === x[0] && max === x.at(-1);
            if (key !== "x" || min == null || max == null) return;
            clearTimeout(remember);
            remember = window.setTimeout(() => set({ [props.id]: whole ? "" : `${+min.toPrecision(9)},${+max.toPrecision(9)}` }), 300);
          },
        ],
        setCursor: [(u) => latest.current.on_cursor?.(u.cursor.idx == null ? undefined : kept[u.cursor.idx])],
        draw: [
          (u) => {
            for (const [m, dash] of [[latest.current.mark, []], [latest.current.mark2, [5, 4]]] as const) {
              if (m === undefined) continue;
              const px = u.valToPos(latest.current.x ? latest.current.x[m]! : m, "x", true), c = u.ctx;
              c.save();
              (c.strokeStyle = ink), (c.lineWidth = 1.5 * devicePixelRatio), c.setLineDash([...dash]);
              c.beginPath(), c.moveTo(px, u.bbox.top), c.lineTo(px, u.bbox.top + u.bbox.height), c.stroke();
              c.restore();
            }
          },
        ],
      },
    };
    const zoomed = (current().params[props.id] ?? "").split(",").map(Number);
    const u = drawn_by_processor(options, [x, ...order.map((k) => drawn[k]!)] as uPlot.AlignedData, box.current!);
    plot.current = u;
    if (zoomed.length === 2 && zoomed.every(Number.isFinite) && zoomed[0]! < zoomed[1]! && zoomed[1]! > (x[0] ?? 0) && zoomed[0]! < (x.at(-1) ?? 0)) u.setScale("x", { min: zoomed[0]!, max: zoomed[1]! });
    u.over.addEventListener("click", () => {
      if (u.cursor.idx != null && u.select.width < 2) latest.current.on_pick?.(kept[u.cursor.idx]!);
    });
    const seen = new ResizeObserver(() => box.current && u.setSize({ width: Math.max(200, box.current.clientWidth), height: props.height ?? 260 }));
    seen.observe(box.current!);
    return () => {
      clearTimeout(remember);
      seen.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [props.lines, kept, props.stacked, props.steps]);
  useEffect(() => plot.current?.redraw(false), [props.mark, props.mark2]);
  const key = (e: KeyboardEvent) => {
    const u = plot.current;
    if (!u || !kept.length || e.ctrlKey || e.metaKey || e.altKey) return;
    const scale = u.scales["x"]!, i = u.cursor.idx ?? Math.floor(kept.length / 2), xs = u.data[0];
    const zoom = (f: number) => {
      const at = xs[i] ?? 0, min = Math.max(xs[0]!, at + (scale.min! - at) * f), max = Math.min(xs[xs.length - 1]!, at + (scale.max! - at) * f);
      if (max > min) u.setScale("x", { min, max });
    };
    const pan = (d: number) => {
      const by = d * (scale.max! - scale.min!), min = scale.min! + by, max = scale.max! + by;
      if (min >= xs[0]! - 1e-9 && max <= xs[xs.length - 1]! + 1e-9) u.setScale("x", { min, max });
    };
    const move = (d: number) => {
      const next = Math.min(kept.length - 1, Math.max(0, i + d));
      u.setCursor({ left: u.valToPos(xs[next]!, "x"), top: u.over.clientHeight / 2 });
    };
    if (e.key === "ArrowLeft") move(e.shiftKey ? -10 : -1);
    else if (e.key === "ArrowRight") move(e.shiftKey ? 10 : 1);
    else if (e.key === "Enter") latest.current.on_pick?.(kept[i]!);
    else if (e.key === "w" || e.key === "+") zoom(0.5);
    else if (e.key === "s" || e.key === "-") zoom(2);
    else if (e.key === "a") pan(-0.25);
    else if (e.key === "d") pan(0.25);
    else if (e.key === "0") u.setScale("x", { min: xs[0]!, max: xs[xs.length - 1]! });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return <div ref={box} class="plot" tabIndex={0} role="img" aria-label={props.title + " (keys: arrows move the cursor, Enter chooses, WASD pan and zoom, 0 shows all)"} onKeyDown={key} />;
}
