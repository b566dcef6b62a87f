import { useMemo, useState } from "preact/hooks";
import { category_colour, kLimit } from "../colours.ts";
import { bytes, short_bytes } from "../format.ts";
import { Report, Stream, Variable } from "../report/report.ts";
import { set, use_index, use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { At, Choice, Empty, Link, source_column } from "../widgets/parts.tsx";
import { Plot } from "../widgets/plot.tsx";
import { Table } from "../widgets/table.tsx";

interface LiveRow {
  index: number;
  name: string;
  category: string;
  now: number;
  before: number;
  kept: string;
  source: { file: string; line: number } | undefined;
}

function step_names(report: Report): (order: number) => string {
  const names = new Map<number, string>();
  for (const p of report.program) if (p.kind !== "loop" && p.name) names.set(p.order, p.name);
  return (order) => (names.has(order) ? `${order} (${names.get(order)})` : `${order}`);
}

/** What keeps a variable in memory: the steps that need it. */
export function kept_by(v: Variable, name_of: (order: number) => string): string {
  if (v.last === 0) return "always live";
  const part = v.always > 0 ? `${bytes(v.always)} always live, the rest by ` : "", first = name_of(v.first), last = name_of(Math.max(0, v.last - 1));
  return part + (first === last ? `step ${first}` : `steps ${first} to ${last}`);
}

export function live_rows(report: Report, order: number, other: number | undefined): LiveRow[] {
  const now = report.live_at(order), before = other === undefined ? undefined : report.live_at(other);
  const name_of = step_names(report);
  return report.variables.map((v) => ({ index: v.index, kept: kept_by(v, name_of), name: v.name || "(no name)", category: report.category_name(v.category), now: now[v.index]!, before: before?.[v.index] ?? 0, source: v.source }))
    .filter((r) => (before ? r.now !== r.before : r.now > 0));
}

/** Bytes of each category at a step, with the largest variable of each. */
export function PeakByCategory({ report, order }: { report: Report; order: number }) {
  const rows = useMemo(() => {
    const by = new Map<string, { category: string; bytes: number; largest: string; most: number; n: number; reduce: string }>();
    for (const r of live_rows(report, order, undefined)) {
      const row = by.get(r.category) ?? { category: r.category, bytes: 0, largest: "", most: 0, n: 0, reduce: report.categories.find((c) => c.name === r.category)?.reduce ?? "" };
      (row.bytes += r.now), ++row.n;
      if (r.now > row.most) (row.most = r.now), (row.largest = r.name);
      by.set(r.category, row);
    }
    return [...by.values()];
  }, [report, order]);
  return (
    <Table id="peak" rows={rows} noun="category" sort="-bytes" height={400} wrap columns={[
      { id: "category", title: "category", value: (r) => r.category }, { id: "bytes", title: "bytes, all tiles", value: (r) => r.bytes, text: bytes, bar: true },
      { id: "n", title: "how many", value: (r) => r.n }, { id: "largest", title: "the largest", value: (r) => `${r.largest} (${bytes(r.most)})` }, { id: "reduce", title: "what makes it less", value: (r) => r.reduce },
    ]} />
  );
}

function Liveness({ report }: ViewProps) {
  const streams = report.streams.filter((s) => s.liveness[1] > s.liveness[0]);
  const chosen = use_index("stream", report.streams.length), stream: Stream = streams.find((s) => s.index === chosen) ?? report.peak?.stream ?? streams[0]!;
  const steps = report.liveness(stream), show = use_param("show", "stream"), variable = use_index("variable", report.variables.length);
  const index_of = (order: number | undefined) => {
    if (order === undefined) return undefined;
    let best: number | undefined;
    for (let i = 0; i < steps.order.length && steps.order[i]! <= order; ++i) best = i;
    return best;
  };
  const end = Number.MAX_SAFE_INTEGER, order = use_index("step", end) ?? (report.peak?.stream === stream ? report.peak.order : steps.order[0]) ?? 0, other = use_index("minus", end);
  const at = index_of(order), at_other = index_of(other);
  const [under, set_under] = useState<number | undefined>(undefined);
  const lines = useMemo(() => {
    if (show === "tile") return [{ title: "fullest tile, always live included", colour: "#d55e00", values: steps.worst }, ...(report.target.bytes_per_tile && steps.worst.some((b) => b > 0.3 * report.target.bytes_per_tile) ? [{ title: "limit", colour: kLimit, values: new Float64Array(steps.worst.length).fill(report.target.bytes_per_tile), alone: true }] : [])];
    const out = [{ title: "always live", colour: "#56b4e9", values: new Float64Array(steps.order.length).fill(stream.always_live) }, { title: "not always live", colour: "#0072b2", values: steps.live }];
    if (variable !== undefined) return [{ title: report.variables[variable]!.name, colour: category_colour(report.category_name(report.variables[variable]!.category)), values: report.variable_over_steps(variable, steps.order) }];
    return out;
  }, [report, stream, show, variable]);
  const rows = useMemo(() => live_rows(report, order, other), [report, order, other]);
  const cursor = under ?? at;
  // What comes and goes: what is always live is in the table.
  const largest = useMemo(() => {
    const order = under === undefined ? undefined : steps.order[under];
    if (order === undefined || !report.has_allocations) return [];
    const now = report.live_at(order);
    return report.variables.filter((v) => v.last > 0 && now[v.index]! > 0).sort((a, b) => now[b.index]! - now[a.index]!).slice(0, 4).map((v) => `${v.name || "(no name)"} ${bytes(now[v.index]!)}`);
  }, [report, steps, under]);
  return (
    <>
      <div class="bar">
        {streams.length > 1 && <Choice title="stream" value={String(stream.index)} on={(v) => set({ stream: v, step: "" })} options={streams.map((s) => ({ id: String(s.index), title: s.name }))} />}
        <Choice title="show" value={show} on={(v) => set({ show: v })} options={[{ id: "stream", title: "all tiles of the stream" }, { id: "tile", title: "the fullest tile of each step" }]} />
        <Choice title="variable" value={variable === undefined ? "" : String(variable)} on={(v) => set({ variable: v, show: "stream" })} options={[{ id: "", title: "all" }, ...[...report.variables].sort((a, b) => b.bytes - a.bytes).slice(0, 200).map((v) => ({ id: String(v.index), title: `${v.name.slice(-60) || "(no name)"} (${short_bytes(v.bytes)})` }))]} />
        {report.peak && <button onClick={() => set({ step: String(report.peak!.order), stream: String(report.peak!.stream.index), minus: "" })}>to the peak</button>}
        <button onClick={() => set({ minus: other === undefined ? String(order) : "" })} title="Keeps this step, and shows what differs at the next one that you choose">{other === undefined ? "compare with this step" : "no comparison"}</button>
      </div>
      <Plot id="live-steps" title="live memory by step" lines={lines} stacked={show === "stream" && variable === undefined} steps x_title="step of the stream" text={short_bytes} mark={at} mark2={at_other}
        on_pick={(i) => set({ step: String(steps.order[i]!) })} on_cursor={set_under} />
      <p class="soft" aria-live="polite">
        {cursor === undefined ? "" : <>step {steps.order[cursor]}: {steps.name(cursor) || "(no name)"} · {bytes(steps.live[cursor]!)} not always live, fullest tile {steps.worst_tile[cursor]} with {bytes(steps.worst[cursor]!)}</>}
        <br />{largest.length > 0 && <>not always live, largest first: {largest.join(", ")}</>}
      </p>
      <h3>{other === undefined ? <>Live at step {order}{report.peak?.stream === stream && report.peak.order === order && ", the peak"}{at !== undefined && <span class="soft"> · {steps.name(at)}</span>}</> : <>What differs: step {order} minus step {other}</>}</h3>
      {at !== undefined && <p><Link view="memory" params={{ tile: String(steps.worst_tile[at]), step: String(order) }}>address map of the fullest tile ({steps.worst_tile[at]})</Link> · <Link view="program" params={{ step: String(order) }}>step {order} in the program</Link></p>}
      {!report.has_allocations ? <Empty>This report does not say which variables are live at a step.</Empty> : (
        <>
          {other === undefined && <PeakByCategory report={report} order={order} />}
          <Table id="live" rows={rows} noun="variable" sort={other === undefined ? "-now" : "-difference"} on_pick={(r) => set({ variable: String(r.index), show: "stream" })} picked={(r) => r.index === variable} columns={[
            { id: "name", title: "variable", value: (r) => r.name }, { id: "category", title: "category", value: (r) => r.category },
            { id: "now", title: `bytes at ${order}`, value: (r) => r.now, text: bytes, bar: other === undefined },
            ...(other === undefined ? [] : [{ id: "before", title: `bytes at ${other}`, value: (r: LiveRow) => r.before, text: bytes }, { id: "difference", title: "difference", value: (r: LiveRow) => r.now - r.before, text: (v: number) => (v > 0 ? "+" : "") + bytes(v) }]),
            { id: "kept", title: "kept by", value: (r) => r.kept, help: "the first and the last step that need it" }, source_column((r: { source: At | undefined }) => r.source),
          ]} />
        </>
      )}
    </>
  );
}

const view: View = { id: "liveness", title: "Liveness", order: 3, widgets: ["lines", "tables"], missing: (r) => (r.streams.some((s) => s.liveness[1] > s.liveness[0]) ? undefined : "This report has no steps with memory."), show: Liveness };
export default view;
