// Pictures of lanes one above the other, over one axis. Each has its own unit and its own beginning.
import { Source } from "../widgets/picture.tsx";

export interface Part {
  title: string;
  source: Source;
  /** What stands at x of the axis stands at `from + x * scale` in the part. */
  from: number;
  scale: number;
  /** Where it ends, on the axis: what stands behind it in the part belongs to something else. */
  length: number;
}

export function stacked_source(parts: Part[], length: number, x_label: (x: number) => string): Source {
  const rows = parts.map((p) => p.source.bounds.y1 - p.source.bounds.y0), first = rows.map((_, i) => rows.slice(0, i).reduce((a, b) => a + b, 0)), all = Math.max(1, rows.reduce((a, b) => a + b, 0));
  const part_at = (y: number) => {
    const i = first.findIndex((f, k) => y >= f && y < f + rows[k]!);
    return i < 0 ? undefined : { p: parts[i]!, y: y - first[i]! };
  };
  return {
    bounds: { x0: 0, x1: length, y0: 0, y1: all },
    finest: { x: length / 1e6, y: all },
    x_title: "time",
    x_label,
    y_label: (y) => {
      const at = part_at(y);
      if (!at) return "";
      const lane = at.p.source.y_label(at.y);
      return at.y !== 0 || lane === at.p.title ? lane : lane ? `${at.p.title}, ${lane}` : at.p.title;
    },
    chunks: () => [],
    over: (c, view, width, height) => {
      const row = height / (view.y1 - view.y0);
      parts.forEach((p, i) => {
        const top = (first[i]! - view.y0) * row, tall = rows[i]! * row;
        if (top > height || top + tall < 0) return;
        c.save();
        c.translate(0, top);
        c.beginPath();
        c.rect(0, 0, Math.max(0, Math.min(width, ((p.length - view.x0) / (view.x1 - view.x0)) * width)), tall);
        c.clip();
        p.source.over?.(c, { x0: p.from + view.x0 * p.scale, x1: p.from + view.x1 * p.scale, y0: 0, y1: rows[i]! }, width, tall);
        c.restore();
        if (i === 0) return;
        c.fillStyle = getComputedStyle(c.canvas).color;
        c.globalAlpha = 0.5;
        c.fillRect(0, Math.round(top), width, 1);
        c.globalAlpha = 1;
      });
    },
    at: (x, y) => {
      const at = part_at(y);
      if (!at || x > at.p.length) return at && `${at.p.title}: nothing, the step ended at ${x_label(at.p.length)}`;
      return `${at.p.title}: ${at.p.source.at(at.p.from + x * at.p.scale, at.y) ?? "nothing"}`;
    },
    next: (x, y, d) => {
      const at = part_at(y);
      return at?.p.source.next ? (at.p.source.next(at.p.from + x * at.p.scale, at.y, d) - at.p.from) / at.p.scale : x;
    },
  };
}
