// Bytes from tile to tile as a picture: senders down, receivers across.
import { ramp } from "../colours.ts";
import { bytes } from "../format.ts";
import { Source } from "../widgets/picture.tsx";

export interface Matrix {
  n: number; // rows and columns
  block: number; // tiles of a row
  tiles: number;
  bytes: Float64Array;
  most: number;
}

export function empty_matrix(tiles: number, block: number): Matrix {
  const n = Math.max(1, Math.ceil(tiles / block));
  return { n, block, tiles, bytes: new Float64Array(n * n), most: 0 };
}

/** Half as many rows and columns, each with the greatest of its four: what is sparse stays to be seen. */
function halved(bytes: Float64Array, n: number): { bytes: Float64Array; n: number } {
  const m = Math.ceil(n / 2), out = new Float64Array(m * m);
  for (let r = 0; r < n; ++r)
    for (let c = 0; c < n; ++c) {
      const to = (r >> 1) * m + (c >> 1), b = bytes[r * n + c]!;
      if (b > out[to]!) out[to] = b;
    }
  return { bytes: out, n: m };
}

export function matrix_source(m: Matrix, label: string, key: string): Source {
  const levels = [{ bytes: m.bytes, n: m.n }], scale = Math.log2(1 + m.most), drawn: (Uint8ClampedArray | undefined)[] = [];
  const level = (k: number) => {
    while (levels.length <= k) levels.push(halved(levels.at(-1)!.bytes, levels.at(-1)!.n));
    const { bytes: values, n } = levels[k]!;
    if (!drawn[k]) {
      const rgba = (drawn[k] = new Uint8ClampedArray(4 * n * n));
      for (let i = 0; i < values.length; ++i) {
        const b = values[i]!;
        if (b <= 0) continue;
        const [red, green, blue] = ramp(scale > 0 ? Math.log2(1 + b) / scale : 0);
        (rgba[4 * i] = red), (rgba[4 * i + 1] = green), (rgba[4 * i + 2] = blue), (rgba[4 * i + 3] = 255);
      }
    }
    return { rgba: drawn[k]!, n };
  };
  const name = (k: number) => (m.block === 1 ? `${label} ${k}` : `${label}s ${k * m.block}–${Math.min(m.tiles, (k + 1) * m.block) - 1}`);
  return {
    bounds: { x0: 0, x1: m.n, y0: 0, y1: m.n },
    finest: { x: Math.min(m.n, 4), y: Math.min(m.n, 4) },
    x_title: `receiving ${label}`,
    x_label: (x) => String(Math.round(x * m.block)),
    y_label: (y) => String(y * m.block),
    chunks: (view, width, height) => {
      // At least as many pixels of the screen as cells.
      const k = Math.max(0, Math.ceil(Math.log2(Math.max((view.x1 - view.x0) / width, (view.y1 - view.y0) / height)))), { rgba, n } = level(k);
      return [{ key: `${key} ${k}`, x0: 0, x1: n * 2 ** k, y0: 0, y1: n * 2 ** k, pixels: { width: n, height: n, rgba } }];
    },
    at: (x, y) => {
      const to = Math.floor(x), from = Math.floor(y);
      if (to < 0 || from < 0 || to >= m.n || from >= m.n) return undefined;
      return `${name(from)} → ${name(to)}\n${bytes(m.bytes[from * m.n + to]!)}`;
    },
  };
}
