// A tile's memory over the program: x is the step, y the address; one rectangle for each time that something is live.
import { category_colour, ink } from "../colours.ts";
import { bytes, short_bytes } from "../format.ts";
import { Allocation, Report } from "../report/report.ts";
import { Source } from "../widgets/picture.tsx";

export interface Hole {
  offset: number;
  size: number;
}

function colour_of(report: Report, variable: number): string {
  return category_colour(report.category_name(report.variables[variable]?.category ?? 0));
}

/** The step at which most of a tile is in use. */
export function fullest_order(report: Report, allocations: Allocation[]): number | undefined {
  const change = new Map<number, number>();
  for (const a of allocations) {
    const intervals = a.size > 0 ? report.live_intervals(a.live) : null;
    if (intervals) for (let k = 0; k < intervals.length; ++k) change.set(intervals[k]!, (change.get(intervals[k]!) ?? 0) + (k % 2 ? -a.size : a.size));
  }
  let best: number | undefined, most = 0, now = 0;
  for (const [order, bytes] of [...change].sort((a, b) => a[0] - b[0])) if ((now += bytes) > most) (most = now), (best = order);
  return best;
}

/** What is live at a step, by address, and the holes below the highest address and below the limit. */
export function at_step(report: Report, allocations: Allocation[], order: number): { live: Allocation[]; holes: Hole[]; used: number; top: number } {
  const live = allocations.filter((a) => a.size > 0 && report.is_live(a.live, order));
  const holes: Hole[] = [];
  let used = 0, top = 0;
  for (const a of live) {
    if (a.offset > top) holes.push({ offset: top, size: a.offset - top });
    used += Math.max(0, a.offset + a.size - Math.max(top, a.offset));
    top = Math.max(top, a.offset + a.size);
  }
  const limit = report.target.bytes_per_tile;
  if (limit > top) holes.push({ offset: top, size: limit - top });
  return { live, holes, used, top };
}

export function orders_end(report: Report): number {
  let end = 1;
  for (const p of report.program) end = Math.max(end, p.order + 1);
  for (const s of report.streams) for (const o of report.liveness(s).order) end = Math.max(end, o + 1);
  return end;
}

export function address_source(report: Report, allocations: Allocation[]): Source {
  const end = orders_end(report), limit = report.target.bytes_per_tile;
  const top = Math.max(1, limit, ...allocations.map((a) => a.offset + a.size));
  const boxes: { x0: number; x1: number; a: Allocation }[] = [];
  for (const a of allocations) {
    if (a.size === 0) continue;
    const intervals = report.live_intervals(a.live);
    if (!intervals) boxes.push({ x0: 0, x1: end, a });
    else for (let k = 0; k < intervals.length; k += 2) boxes.push({ x0: intervals[k]!, x1: intervals[k + 1]!, a });
  }
  const used = Math.max(1, ...allocations.map((a) => a.offset + a.size));
  // Memory that is mostly empty is shown up to what is used.
  const shown = used < 0.6 * top ? used * 1.08 : top * 1.01;
  const name_of = new Map<number, string>();
  for (const p of report.program) if (p.kind !== "loop") name_of.set(p.order, p.name || p.kind);
  return {
    bounds: { x0: 0, x1: end, y0: 0, y1: shown },
    finest: { x: Math.min(end, 4), y: Math.min(shown, 64) },
    binary_y: true,
    x_title: "step",
    x_label: (x) => (Math.abs(x - Math.round(x)) < 1e-6 ? String(Math.round(x)) : ""),
    y_label: (y) => short_bytes(y),
    chunks: () => [],
    over: (c, v, width, height) => {
      const sx = width / (v.x1 - v.x0), sy = height / (v.y1 - v.y0), soft = getComputedStyle(c.canvas).color;
      c.font = "12px sans-serif";
      c.textBaseline = "middle";
      for (const b of boxes) {
        const x = (b.x0 - v.x0) * sx, w = (b.x1 - b.x0) * sx, y = (b.a.offset - v.y0) * sy, h = b.a.size * sy;
        if (x > width || x + w < 0 || y > height || y + h < 0) continue;
        c.fillStyle = colour_of(report, b.a.variable);
        c.fillRect(x, y, Math.max(0.7, w), Math.max(0.7, h));
        if (h > 3 && w > 3) {
          c.strokeStyle = "#0005";
          c.lineWidth = 1;
          c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
        }
        const from = Math.max(0, x), room = Math.min(width, x + w) - from - 8, name = report.variables[b.a.variable]?.name ?? "";
        if (h > 13 && room > 40) {
          let text = name;
          while (text.length > 3 && c.measureText(text).width > room) text = "…" + text.slice(Math.ceil(text.length * 0.15) + 1);
          c.fillStyle = ink(colour_of(report, b.a.variable));
          c.fillText(text, from + 4, y + h / 2);
        }
      }
      if (limit > 0 && limit <= v.y1) {
        const y = (limit - v.y0) * sy;
        (c.strokeStyle = soft), (c.lineWidth = 2), c.setLineDash([6, 4]);
        c.beginPath(), c.moveTo(0, y), c.lineTo(width, y), c.stroke();
        c.setLineDash([]);
      }
    },
    at: (x, y) => {
      const order = Math.floor(x), step = name_of.get(order);
      const b = boxes.find((k) => x >= k.x0 && x < k.x1 && y >= k.a.offset && y < k.a.offset + k.a.size);
      const where = `step ${order}${step ? `: ${step}` : ""}, address 0x${Math.max(0, Math.floor(y)).toString(16)}`;
      if (!b) return `${where}\nfree`;
      const v = report.variables[b.a.variable];
      return `${where}\n${v?.name ?? "?"}\n${report.category_name(v?.category ?? 0)}, ${bytes(b.a.size)} at 0x${b.a.offset.toString(16)}, ${b.a.live === 0 ? "live always" : `live at steps ${b.x0} to ${b.x1 - 1}`}`;
    },
  };
}
