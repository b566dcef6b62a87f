// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), one meaning each; maps go from dark to light in lightness alone.
export type Rgb = [number, number, number];

export const kKinds: Record<string, string> = {
  compute: "#0072b2",
  exchange: "#e69f00",
  local_copy: "#56b4e9",
  global_exchange: "#d55e00",
  sync: "#cc79a7",
  host: "#009e73",
  wait: "#b0b0b0",
};
export const kKindTitles: Record<string, string> = {
  compute: "compute",
  exchange: "exchange",
  local_copy: "local copy",
  global_exchange: "exchange between IPUs",
  sync: "sync",
  host: "host",
  wait: "wait",
};

// Each pair of them differs for every kind of colour vision, too.
export const kSeries = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#baba5e", "#8c30e8", "#4d2600", "#8a0f61", "#e6004c", "#80ffaa"];
export function series(i: number): string {
  return kSeries[i % kSeries.length]!;
}

// Categories of memory have their colours in every report, whichever of them it has: two reports side by side mean the same.
const kCategories = ["variable", "constant", "vertex state", "vertex code", "exchange buffer", "stack", "control code", "exchange code", "globals", "reserved", "", "staging"];
export function category_colour(name: string): string {
  const i = kCategories.indexOf(name);
  return series(i < 0 ? 0 : i);
}
/** Of a tile's memory: the colour of no category. */
export const kLimit = kSeries[10]!;

export function rgb(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

// Cividis, at nine places.
const kMap: Rgb[] = [[0, 32, 77], [0, 48, 111], [57, 72, 107], [87, 93, 109], [112, 113, 115], [138, 134, 120], [166, 157, 117], [196, 181, 108], [255, 233, 69]];
/** The colour of a share between 0 and 1. */
export function ramp(share: number): Rgb {
  const x = Math.min(1, Math.max(0, share)) * (kMap.length - 1);
  const i = Math.min(kMap.length - 2, Math.floor(x)), f = x - i;
  return kMap[i]!.map((c, k) => Math.round(c + f * (kMap[i + 1]![k]! - c))) as Rgb;
}
export function css([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`;
}
/** Black or white, whichever can be read on the colour. */
export function ink(hex: string): string {
  const [r, g, b] = rgb(hex);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff";
}
