import { kKinds } from "../colours.ts";
import { bytes, count, short_bytes } from "../format.ts";

export interface Pair {
  from: number;
  to: number;
  bytes: number;
}

/** Bytes from each of n devices to each other one, as arrows; the first 16 devices. */
export function Messages({ count: n, name, pairs }: { count: number; name: (i: number) => string; pairs: Pair[] }) {
  const most = Math.max(1, ...pairs.map((p) => p.bytes)), step = 150, shown = Math.min(n, 16);
  if (!pairs.length) return <p class="soft">Nothing goes from one to another.</p>;
  const x = (i: number) => 70 + i * Math.min(step, 900 / shown);
  const high = 60 + 22 * Math.min(shown, Math.max(...pairs.map((p) => Math.abs(p.from - p.to))));
  const arcs = pairs.filter((p) => p.from < shown && p.to < shown).map((p) => {
    const a = x(p.from), b = x(p.to), up = p.to > p.from;
    return { p, a, b, up, d: 22 * Math.abs(p.to - p.from) + 18, y: high + (up ? -14 : 14), m: (a + b) / 2 };
  });
  return (
    <svg viewBox={`0 0 ${x(shown - 1) + 70} ${2 * high + 30}`} style={{ maxWidth: "64rem", width: "100%", maxHeight: "26rem" }} preserveAspectRatio="xMinYMid" role="img" aria-label={pairs.map((p) => `${name(p.from)} to ${name(p.to)}: ${bytes(p.bytes)}`).join("; ")}>
      <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="currentColor" /></marker></defs>
      {arcs.map(({ p, a, b, up, d, y, m }) => (
        <path d={`M${a} ${y} Q${m} ${y + (up ? -2 : 2) * d} ${b} ${y}`} fill="none" stroke={kKinds["global_exchange"]} stroke-width={1 + (4 * p.bytes) / most} marker-end="url(#tip)"><title>{`${name(p.from)} → ${name(p.to)}: ${count(p.bytes)} bytes`}</title></path>
      ))}
      {pairs.length <= 24 && arcs.map(({ p, up, d, y, m }) => (
        <text x={m} y={y + (up ? -1 : 1) * d + (up ? -5 : 14)} font-size="12" text-anchor="middle" fill="currentColor" style={{ paintOrder: "stroke", stroke: "var(--back)", strokeWidth: 5 }}>{short_bytes(p.bytes)}</text>
      ))}
      {Array.from({ length: shown }, (_, i) => <g><rect x={x(i) - 34} y={high - 13} width="68" height="26" rx="4" fill="var(--panel)" stroke="currentColor" /><text x={x(i)} y={high + 4} font-size="13" text-anchor="middle" fill="currentColor">{name(i)}</text></g>)}
    </svg>
  );
}
