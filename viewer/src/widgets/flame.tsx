// A flame graph: a tree of names with sums, widest first; a click or Enter on a part shows it whole.
import { useMemo } from "preact/hooks";
import { ink, series } from "../colours.ts";
import { set, use_param } from "../state.ts";
import { Box } from "./painter.ts";
import { Picture, Source } from "./picture.tsx";

export interface FlameNode {
  name: string;
  value: number;
  children: Map<string, FlameNode>;
}

/** Adds a value along a path. */
export function add_path(root: FlameNode, path: string[], value: number) {
  root.value += value;
  let node = root;
  for (const name of path) {
    let child = node.children.get(name);
    if (!child) node.children.set(name, (child = { name, value: 0, children: new Map() }));
    child.value += value;
    node = child;
  }
}
export function flame_root(name: string): FlameNode {
  return { name, value: 0, children: new Map() };
}

interface Placed {
  node: FlameNode;
  x0: number;
  depth: number;
  path: string;
}

function hash(text: string): number {
  let h = 0;
  for (let i = 0; i < text.length; ++i) h = (h * 31 + text.charCodeAt(i)) >>> 0;
  return h;
}

export function Flame(props: { id: string; root: FlameNode; title: string; text: (value: number) => string }) {
  const focus = use_param(`${props.id}.at`);
  const { source, placed } = useMemo(() => {
    const placed: Placed[] = [];
    let deepest = 0;
    const place = (node: FlameNode, x0: number, depth: number, path: string) => {
      placed.push({ node, x0, depth, path });
      deepest = Math.max(deepest, depth);
      if (depth > 60) return;
      let x = x0;
      for (const child of [...node.children.values()].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1))) {
        place(child, x, depth + 1, path ? `${path}/${child.name}` : child.name);
        x += child.value;
      }
    };
    let start = props.root;
    for (const name of focus ? focus.split("/") : []) {
      const child = start.children.get(name);
      if (!child) break;
      start = child;
    }
    place(start, 0, 0, start === props.root ? "" : focus);
    const total = Math.max(1, start.value);
    const at = (x: number, y: number) => placed.find((p) => p.depth === Math.floor(y) && x >= p.x0 && x < p.x0 + p.node.value);
    const source: Source = {
      bounds: { x0: 0, x1: total, y0: 0, y1: deepest + 1 },
      finest: { x: total / 1e6, y: 1 },
      x_title: "",
      x_label: props.text,
      y_label: () => "",
      chunks: () => [],
      at: (x, y) => {
        const p = at(x, y);
        return p && `${p.path.replaceAll("/", " / ") || p.node.name}\n${props.text(p.node.value)}, ${((100 * p.node.value) / Math.max(1, props.root.value)).toFixed(1)} % of all`;
      },
      next: (x, y, d) => {
        const row = placed.filter((p) => p.depth === Math.floor(y)), p = at(x, y);
        const i = p ? row.indexOf(p) + d : 0;
        const q = row[Math.min(row.length - 1, Math.max(0, i))];
        return q ? q.x0 + q.node.value / 2 : x;
      },
      over: (c, view: Box, width, height) => {
        const sx = width / (view.x1 - view.x0), row = height / (view.y1 - view.y0);
        c.font = "12px sans-serif";
        c.textBaseline = "middle";
        for (const p of placed) {
          const px = (p.x0 - view.x0) * sx, w = p.node.value * sx, py = (p.depth - view.y0) * row;
          if (w < 0.6 || px > width || px + w < 0) continue;
          const colour = p.depth === 0 ? "#9a9a9a" : series(hash(p.node.name) % 9);
          c.fillStyle = colour;
          c.fillRect(px, py, Math.max(0.6, w - 1), row - 1);
          const from = Math.max(px, 0), room = Math.min(px + w, width) - from - 8;
          if (room > 24) {
            c.fillStyle = ink(colour);
            let text = p.node.name;
            while (text.length > 2 && c.measureText(text).width > room) text = text.slice(0, Math.max(2, Math.floor(text.length * 0.85)) - 1) + "…";
            if (c.measureText(text).width <= room) c.fillText(text, from + 4, py + row / 2);
          }
        }
      },
    };
    return { source, placed };
  }, [props.root, focus]);
  const rows = source.bounds.y1;
  return (
    <>
      {focus && <div class="bar"><button onClick={() => set({ [`${props.id}.at`]: "" })}>show all</button><span class="soft">{focus.replaceAll("/", " / ")}</span></div>}
      <Picture id={props.id} source={source} height={Math.min(520, rows * 22 + 20)} title={props.title} margin_left={4}
        on_pick={(x, y) => {
          const p = placed.find((q) => q.depth === Math.floor(y) && x >= q.x0 && x < q.x0 + q.node.value);
          if (p && p.depth > 0) set({ [`${props.id}.at`]: p.path, [props.id]: "" });
        }} />
    </>
  );
}
