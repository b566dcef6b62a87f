import { useMemo } from "preact/hooks";
import { bytes, count, seconds, times } from "../format.ts";
import { Report } from "../report/report.ts";
import { set, use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { Facts } from "../widgets/parts.tsx";
import { Table } from "../widgets/table.tsx";

export interface Pair {
  name: string;
  a: number;
  b: number;
}

/** Sums by name of two lists; sorted by the size of the difference. */
export function matched(a: [string, number][], b: [string, number][]): Pair[] {
  const by = new Map<string, Pair>();
  for (const [list, side] of [[a, "a"], [b, "b"]] as const)
    for (const [name, value] of list) {
      const pair = by.get(name) ?? { name, a: 0, b: 0 };
      pair[side] += value;
      by.set(name, pair);
    }
  return [...by.values()].sort((p, q) => Math.abs(q.b - q.a) - Math.abs(p.b - p.a) || (p.name < q.name ? -1 : 1));
}

// Of a step: name, kind, stream.
const kBetween = "\u0000";

const kWhat: { id: string; title: string; list: (r: Report) => [string, number][]; text: (v: number) => string }[] = [
  { id: "steps", title: "cycles by step", list: (r) => r.steps.map((s) => [[s.name || s.kind, s.kind, r.streams[s.stream]?.name ?? "?"].join(kBetween), s.total - s.cycles.wait]), text: count },
  { id: "variables", title: "memory by variable", list: (r) => r.variables.map((v) => [`${v.name || "(no name)"} · ${r.category_name(v.category)}`, v.bytes]), text: bytes },
  { id: "categories", title: "memory by category", list: (r) => r.categories.map((c) => [c.name, c.bytes]), text: bytes },
  { id: "codelets", title: "cycles by codelet", list: (r) => r.codelets.map((c) => [c.name, c.cycles]), text: count },
  { id: "exchanges", title: "bytes by exchange", list: (r) => r.exchanges.map((e) => [e.name, e.bytes]), text: bytes },
];

function Compare({ report, other }: ViewProps) {
  const a = report, b = other!, what = kWhat.find((w) => w.id === use_param("of", a.executed && b.executed ? "steps" : "variables"))!;
  // Streams take part in a step at the same time: each has its own cycles, which do not add up.
  const several = Math.max(a.streams.length, b.streams.length) > 1, rows = useMemo(() => matched(what.list(a), what.list(b)), [a, b, what]), part = (p: Pair, i: number) => p.name.split(kBetween)[i] ?? "";
  const fullest = (r: Report) => r.tile_with_gaps.reduce((m, v) => Math.max(m, v), 0);
  const both = (f: (r: Report) => number, text: (n: number) => string) => {
    const x = f(a), y = f(b);
    return <>{text(x)} → {text(y)} <b class={y > x ? "bad" : y < x ? "good" : ""}>{y === x ? "the same" : x === 0 ? "" : y >= 10 * x ? times(y / x) : `${y > x ? "+" : "−"}${Math.abs((100 * (y - x)) / x).toFixed(1)} %`}</b></>;
  };
  return (
    <>
      <p><b>A</b> {a.file} · <b>B</b> {b.file}</p>
      <Facts rows={[
        ["cycles", both((r) => r.total_cycles, count)], ["modelled time", both((r) => r.seconds(r.total_cycles) || 0, seconds)], ["fullest tile", both(fullest, bytes)],
        ["memory, all tiles", both((r) => r.categories.reduce((s, c) => s + c.bytes, 0), bytes)], ["vertices", both((r) => r.graph["vertices"] ?? 0, count)], ["bytes exchanged", both((r) => r.steps.reduce((s, x) => s + x.exchanged, 0), bytes)],
      ]} />
      <div class="bar" role="tablist">{kWhat.map((w) => <button role="tab" aria-selected={w === what} aria-pressed={w === what} onClick={() => set({ of: w.id })}>{w.title}</button>)}</div>
      <Table id="compare" rows={rows} noun="name" sort="-size" height={560} columns={[
        { id: "name", title: "name", value: (p) => part(p, 0) }, ...(what.id === "steps" ? [{ id: "kind", title: "kind", value: (p: Pair) => part(p, 1) }, { id: "stream", title: "stream", value: (p: Pair) => part(p, 2), hidden: !several }] : []), { id: "a", title: "A", value: (p) => p.a, text: what.text }, { id: "b", title: "B", value: (p) => p.b, text: what.text },
        { id: "difference", title: "B − A", value: (p) => p.b - p.a, text: (v) => (v > 0 ? "+" : v < 0 ? "−" : "") + what.text(Math.abs(v)) }, { id: "size", title: "difference", value: (p) => Math.abs(p.b - p.a), text: what.text, bar: true },
        { id: "ratio", title: "B / A", value: (p) => (p.a > 0 ? p.b / p.a : p.b > 0 ? Infinity : 1), text: (v) => (v === 0 ? "gone" : Number.isFinite(v) ? v.toFixed(2) : "new") },
      ]} />
    </>
  );
}

const view: View = { id: "compare", title: "Compare", order: 9, widgets: ["tables"], missing: (_r, other) => (other ? undefined : "This page holds one report. Give two to compare: pando view A B"), show: Compare };
export default view;
