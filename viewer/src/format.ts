// Numbers as people read them. Bytes are binary (KiB), times decimal.
export function bytes(n: number): string {
  if (Math.abs(n) < 1024) return `${Math.round(n)} B`;
  let unit = 0;
  while (Math.abs(n) >= 1023.95 && unit < 5) (n /= 1024), ++unit;
  return `${n.toFixed(1)} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][unit]}`;
}

const kGrouped = new Intl.NumberFormat("en-GB");
export function count(n: number): string {
  return kGrouped.format(Math.round(n)).replaceAll(",", " ");
}

export function short(n: number): string {
  const a = Math.abs(n);
  if (a >= 1e12) return `${+(n / 1e12).toPrecision(3)}T`;
  if (a >= 1e9) return `${+(n / 1e9).toPrecision(3)}G`;
  if (a >= 1e6) return `${+(n / 1e6).toPrecision(3)}M`;
  if (a >= 1e4) return `${+(n / 1e3).toPrecision(3)}k`;
  return `${+n.toPrecision(4)}`;
}

export function short_bytes(n: number): string {
  const a = Math.abs(n);
  for (const [size, name] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const)
    if (a >= size) return `${+(n / size).toPrecision(3)} ${name}`;
  return `${+n.toPrecision(3)} B`;
}

export function seconds(s: number): string {
  const a = Math.abs(s);
  if (s === 0) return "0 s";
  if (a < 1e-6) return `${(s * 1e9).toPrecision(3)} ns`;
  if (a < 1e-3) return `${(s * 1e6).toPrecision(3)} µs`;
  if (a < 1) return `${(s * 1e3).toPrecision(3)} ms`;
  return `${+s.toPrecision(4)} s`;
}

export function percent(share: number): string {
  return Number.isFinite(share) ? `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %` : "–";
}

/** How many times as much: "0.96 x", "3 450 x". */
export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${Math.abs(ratio) >= 1000 ? count(ratio) : +ratio.toPrecision(3)} x` : "–";
}

export function plural(n: number, one: string, many = /[^aeiou]y$/.test(one) ? one.slice(0, -1) + "ies" : one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Tile numbers as people write them: "0–3, 7". */
export function ranges(tiles: ArrayLike<number>, at_most = 8): string {
  const parts: string[] = [];
  for (let i = 0; i < tiles.length; ) {
    let j = i + 1;
    while (j < tiles.length && tiles[j] === tiles[j - 1]! + 1) ++j;
    if (parts.length === at_most) return parts.join(", ") + " …";
    parts.push(j - i > 1 ? `${tiles[i]}–${tiles[j - 1]}` : `${tiles[i]}`);
    i = j;
  }
  return parts.join(", ");
}
