// Every tile as a square, in order or as it lies on the chip, coloured by a number. Arrow keys move, Enter chooses.
import { useEffect, useRef, useState } from "preact/hooks";
import { css, ramp } from "../colours.ts";
import { Report } from "../report/report.ts";

export interface Fabric {
  columns: number;
  rows: number;
  lanes: number;
}

/** Where each tile of an IPU stands: [column, row]. In order: rows of 46 or so. On the chip: a snake of columns, each of some lanes. */
export function places_of(report: Report, chip: boolean): { x: Uint16Array; y: Uint16Array; columns: number; rows: number } {
  const n = Math.max(1, report.target.tiles_per_ipu), x = new Uint16Array(n), y = new Uint16Array(n), f = report.fabric;
  if (chip && f) {
    for (let t = 0; t < n; ++t) {
      const column = Math.floor(t / (f.rows * f.lanes)), within = t % (f.rows * f.lanes), row = Math.floor(within / f.lanes);
      x[t] = column * f.lanes + (within % f.lanes);
      y[t] = f.rows - 1 - (column % 2 ? f.rows - 1 - row : row);
    }
    return { x, y, columns: f.columns * f.lanes, rows: f.rows };
  }
  let columns = Math.min(n, 64);
  if (n > 64 && n % 64) for (columns = 64; columns > 24 && n % columns; ) --columns;
  if (n % columns && n > 64) columns = 64;
  for (let t = 0; t < n; ++t) (x[t] = t % columns), (y[t] = Math.floor(t / columns));
  return { x, y, columns, rows: Math.ceil(n / columns) };
}

export function TileMap(props: { report: Report; values: ArrayLike<number>; most?: number; text: (v: number) => string; title: string; chip: boolean; /** One tile can be chosen. */ alone?: boolean; selected: number[]; on_pick: (tile: number, more: boolean) => void }) {
  const { report, values } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, set_at] = useState<number | undefined>(undefined);
  const per = Math.max(1, report.target.tiles_per_ipu), places = places_of(report, props.chip), ipus = Math.max(1, Math.ceil(report.target.tiles / per));
  const across = Math.min(ipus, ipus <= 2 ? ipus : 4), down = Math.ceil(ipus / across);
  const lanes = props.chip && report.fabric ? report.fabric.lanes : 0;
  const room = 900 / across;
  const cell = Math.max(2, Math.min(28, Math.floor((room - 16) / (places.columns + (lanes ? places.columns / lanes / 2 : 0))), Math.floor(560 / places.rows)));
  const gap = lanes ? Math.max(1, Math.floor(cell / 2)) : 0;
  const wide = places.columns * cell + (lanes ? (Math.ceil(places.columns / lanes) - 1) * gap : 0), tall = places.rows * cell;
  const width = across * (wide + 16), height = down * (tall + (ipus > 1 ? 22 : 4));
  const top = ipus > 1 ? 18 : 0;
  const most = props.most ?? Array.prototype.reduce.call(values, (m: any, v: any) => Math.max(m, v), 0) as number;
  const corner = (tile: number): [number, number] => {
    const ipu = Math.floor(tile / per), t = tile % per;
    return [(ipu % across) * (wide + 16) + places.x[t]! * cell + (lanes ? Math.floor(places.x[t]! / lanes) * gap : 0), Math.floor(ipu / across) * (tall + 22) + top + places.y[t]! * cell];
  };
  useEffect(() => {
    const c = canvas.current!, ratio = devicePixelRatio || 1, g = c.getContext("2d", { willReadFrequently: true })!;
    (c.width = width * ratio), (c.height = height * ratio);
    g.scale(ratio, ratio);
    const style = getComputedStyle(c);
    g.font = "12px sans-serif";
    g.fillStyle = style.color;
    if (ipus > 1) for (let i = 0; i < ipus; ++i) g.fillText(`IPU ${i}`, (i % across) * (wide + 16), Math.floor(i / across) * (tall + 22) + 13);
    for (let t = 0; t < report.target.tiles; ++t) {
      const [x, y] = corner(t), v = values[t] ?? 0;
      g.fillStyle = v > 0 ? css(ramp(most > 0 ? v / most : 0)) : "#8883";
      g.fillRect(x, y, cell - (cell > 4 ? 1 : 0), cell - (cell > 4 ? 1 : 0));
    }
    g.strokeStyle = style.color;
    for (const t of props.selected) {
      const [x, y] = corner(t);
      (g.lineWidth = 2), g.strokeRect(x - 1, y - 1, cell + 1, cell + 1);
    }
    if (at !== undefined) {
      const [x, y] = corner(at);
      (g.lineWidth = 2), (g.strokeStyle = "#d55e00"), g.strokeRect(x - 1, y - 1, cell + 1, cell + 1);
    }
  });
  const tile_at = (e: MouseEvent): number | undefined => {
    const r = canvas.current!.getBoundingClientRect(), px = ((e.clientX - r.left) * width) / r.width, py = ((e.clientY - r.top) * height) / r.height;
    for (let ipu = 0; ipu < ipus; ++ipu) {
      const x0 = (ipu % across) * (wide + 16), y0 = Math.floor(ipu / across) * (tall + 22) + top;
      if (px < x0 || px > x0 + wide || py < y0 || py > y0 + tall) continue;
      for (let t = 0; t < per; ++t) {
        const [x, y] = corner(ipu * per + t);
        if (px >= x && px < x + cell && py >= y && py < y + cell) return ipu * per + t < report.target.tiles ? ipu * per + t : undefined;
      }
    }
    return undefined;
  };
  const key = (e: KeyboardEvent) => {
    const here = at ?? props.selected[0] ?? 0, [x, y] = corner(here);
    if (e.key === "Enter") props.on_pick(here, e.shiftKey);
    else if (e.key.startsWith("Arrow")) {
      const dx = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0, dy = e.key === "ArrowUp" ? -1 : e.key === "ArrowDown" ? 1 : 0;
      let best: number | undefined, near = Infinity;
      for (let t = 0; t < report.target.tiles; ++t) {
        const [tx, ty] = corner(t), along = (tx - x) * dx + (ty - y) * dy, aside = Math.abs((tx - x) * dy) + Math.abs((ty - y) * dx);
        if (along > 0 && along + 4 * aside < near) (near = along + 4 * aside), (best = t);
      }
      if (best !== undefined) set_at(best);
    } else if (e.key === "Escape") set_at(undefined);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={props.title + " (arrows move, Enter chooses" + (props.alone ? ")" : ", Shift+Enter adds a tile to compare)")} style={{ width: `${width}px`, maxWidth: "100%", display: "block" }}
        onMouseMove={(e) => set_at(tile_at(e))} onMouseLeave={() => set_at(undefined)} onKeyDown={key}
        onClick={(e) => { const t = tile_at(e); if (t !== undefined) props.on_pick(t, e.shiftKey || e.ctrlKey); }} />
      <div class="bar soft" aria-live="polite">
        <span style={{ display: "inline-block", width: "9rem", height: "0.8rem", background: `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map((s) => css(ramp(s))).join(",")})` }} />
        <span>0 to {props.text(most)}</span>
        <span>{at === undefined ? `Point at a tile; click chooses it${props.alone ? "" : ", Shift+click compares"}.` : `tile ${at}: ${props.text(values[at] ?? 0)}`}</span>
      </div>
    </div>
  );
}
