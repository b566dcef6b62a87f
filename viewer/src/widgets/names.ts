// Names beside points, where they have room: the first ones first, none over another one or over a point.
export interface Named<T> {
  item: T;
  text: string;
  /** Where the text has no room. */
  short?: string;
  x: number;
  y: number;
  /** Radius of its point. */
  r: number;
}
interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

const kHigh = 12;

/** Where the baseline of each name begins; those without room are left out. */
export function place_names<T>(points: Named<T>[], room: { left: number; right: number; top: number; bottom: number }, width_of: (text: string) => number): { item: T; text: string; x: number; y: number }[] {
  const taken: Box[] = points.map((p) => ({ x0: p.x - p.r, x1: p.x + p.r, y0: p.y - p.r, y1: p.y + p.r })), out: { item: T; text: string; x: number; y: number }[] = [];
  for (const p of points)
    texts: for (const text of p.short === undefined || p.short === p.text ? [p.text] : [p.text, p.short]) {
      const w = width_of(text), away = p.r + 5;
      // Right, left, above, below, and farther up and down.
      for (const [x, y] of [[p.x + away, p.y + 4], [p.x - away - w, p.y + 4], [p.x - w / 2, p.y - away], [p.x - w / 2, p.y + away + kHigh - 2], [p.x + away, p.y - away - 4], [p.x + away, p.y + away + kHigh], [p.x - away - w, p.y - away - 4], [p.x - away - w, p.y + away + kHigh]] as const) {
        const box = { x0: x - 2, x1: x + w + 2, y0: y - kHigh + 2, y1: y + 3 };
        if (box.x0 < room.left || box.x1 > room.right || box.y0 < room.top || box.y1 > room.bottom) continue;
        if (taken.some((o) => box.x0 < o.x1 && box.x1 > o.x0 && box.y0 < o.y1 && box.y1 > o.y0)) continue;
        taken.push(box);
        out.push({ item: p.item, text, x, y });
        break texts;
      }
    }
  return out;
}

/** Names of words without the words that all of them have: what tells them apart. */
export function told_apart(names: string[]): string[] {
  const words = names.map((n) => n.split(" ").filter(Boolean)), in_all = new Set(words[0] ?? []);
  for (const w of words) for (const word of in_all) if (!w.includes(word)) in_all.delete(word);
  return words.map((w, i) => w.filter((word) => names.length < 2 || !in_all.has(word)).join(" ") || names[i]!);
}
