import { useMemo } from "preact/hooks";
import { kKinds } from "../colours.ts";
import { count, percent, plural, short } from "../format.ts";
import { Report, Step } from "../report/report.ts";
import { set, use_index } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { AdviceList } from "../widgets/advice.tsx";
import { Empty, Facts, Link, source_column } from "../widgets/parts.tsx";
import { Line, Plot } from "../widgets/plot.tsx";
import { Table } from "../widgets/table.tsx";
import { TileMap } from "../widgets/tile_map.tsx";

function tiles_of_stream(report: Report, stream: number): number {
  const t = report.streams[stream]?.tiles ?? [];
  let n = 0;
  for (let k = 0; k < t.length; k += 2) n += t[k + 1]! - t[k]!;
  return n || report.target.tiles;
}

/** Cycles that would be saved if all tiles of the stream had the mean. */
export function lost(step: Step): number {
  return step.cycles.compute * (1 - Math.min(1, Math.max(0, step.balance)));
}

function Distribution({ report, step }: { report: Report; step: Step }) {
  const { values, sorted, used } = useMemo(() => {
    const values = report.tile_cycles(step), own = report.streams[step.stream]?.tiles ?? [];
    const mine: number[] = [];
    for (let k = 0; k < own.length; k += 2) for (let t = own[k]!; t < own[k + 1]!; ++t) mine.push(values[t] ?? 0);
    const sorted = Float64Array.from(mine.length ? mine : values).sort().reverse();
    return { values, sorted, used: sorted.reduce((n, c) => n + (c > 0 ? 1 : 0), 0) };
  }, [report, step]);
  const lines = useMemo((): Line[] => [{ title: "cycles", colour: kKinds["compute"]!, values: sorted }], [sorted]);
  const mean = sorted.reduce((a, b) => a + b, 0) / Math.max(1, sorted.length), at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const codelet = report.codelets[step.slowest_codelet]?.name, exact = step.profile < 0 || report.profile(step.profile).exact;
  const part = report.program[step.program], set_ = part && report.compute_sets[part.compute_set];
  const on_tile = set_?.groups.filter((g) => step.slowest_tile >= g.begin && step.slowest_tile < g.end) ?? [];
  return (
    <>
      <h3>{step.name || step.kind} <span class="soft">· step {step.order}, {report.streams[step.stream]?.name}</span></h3>
      <div class="split">
        <div>
          {sorted.length > 1 && <Plot id="distribution" title="cycles by tile, slowest first" lines={lines} stacked steps x_title="tiles, slowest first" text={short} height={220} />}
          {report.target.tiles > 1 && <TileMap report={report} values={values} text={(v) => `${count(v)} cycles`} title="cycles by tile" chip={false} alone selected={[step.slowest_tile]} on_pick={(t) => set({ tile: String(t) })} />}
        </div>
        <Facts rows={[
          ["slowest tile", <Link view="memory" params={{ tile: String(step.slowest_tile) }}>{step.slowest_tile}: {count(sorted[0] ?? 0)} cycles</Link>],
          ["why", codelet ? `${codelet}: its slowest vertex takes ${count(step.slowest_cycles)} cycles` : "–"],
          ["on that tile", on_tile.length ? on_tile.map((g) => `${g.count} x ${report.codelets[g.codelet]?.name ?? "?"}`).join(", ") : "–"],
          ["workers in use there", step.used_workers ? `${step.used_workers} of ${report.target.workers}${step.used_workers < report.target.workers ? `: ${report.target.workers - step.used_workers} idle` : ""}` : "–"],
          ["tiles that compute", `${count(used)} of ${count(sorted.length)}`], ["mean over tiles", `${count(mean)} cycles, ${percent(step.balance)} of the slowest`],
          ["median, tenth slowest", `${count(at(0.5))}, ${count(at(0.1))}`], ["executions", count(step.executions)],
          ["lost", `${count(lost(step))} cycles over all executions`],
          ...(exact ? [] : [["note", "neighbouring tiles are joined in this report: each has the cycles of the slowest of them"] as [string, string]]),
        ]} />
      </div>
    </>
  );
}

function Balance({ report }: ViewProps) {
  const steps = useMemo(() => report.steps.filter((s) => s.cycles.compute > 0), [report]);
  const order = use_index("step", Number.MAX_SAFE_INTEGER), stream = use_index("stream", report.streams.length);
  const chosen = steps.find((s) => s.order === order && (stream === undefined || s.stream === stream)) ?? steps.find((s) => s.order === order) ?? steps.reduce((a, b) => (lost(b) > lost(a) ? b : a));
  const all = steps.reduce((n, s) => n + s.cycles.compute, 0), gone = steps.reduce((n, s) => n + lost(s), 0), few = steps.filter((s) => s.used_workers > 0 && s.used_workers < report.target.workers);
  return (
    <>
      <p>With equal work on all tiles of their streams, {plural(steps.length, "compute step")} would need {count(gone)} of {count(all)} cycles less ({percent(gone / Math.max(1, all))}).
        {few.length > 0 && ` In ${plural(few.length, "step")} the slowest tile uses fewer than ${report.target.workers} workers.`}</p>
      <AdviceList report={report} only={(rule) => /balance|worker|tiles/.test(rule)} />
      <Table id="balance" rows={steps} noun="step" sort="-lost" height={340} on_pick={(s) => set({ step: String(s.order), stream: String(s.stream) })} picked={(s) => s === chosen} columns={[
        { id: "name", title: "step", value: (s) => s.name || s.kind }, { id: "order", title: "order", value: (s) => s.order, hidden: new Set(steps.map((s) => s.name)).size === steps.length }, { id: "stream", title: "stream", value: (s) => report.streams[s.stream]?.name ?? "?", hidden: report.streams.length === 1 },
        { id: "compute", title: "cycles", value: (s) => s.cycles.compute }, { id: "lost", title: "lost to imbalance", value: (s) => Math.round(lost(s)), bar: true }, { id: "balance", title: "balance", value: (s) => s.balance, text: percent, help: "mean over the stream's tiles / slowest tile" },
        { id: "tile", title: "slowest tile", value: (s) => s.slowest_tile }, { id: "workers", title: "idle workers", value: (s) => (s.used_workers > 0 ? Math.max(0, report.target.workers - s.used_workers) : -1), text: (v: number) => (v < 0 ? "–" : `${v} of ${report.target.workers}`), help: "of the slowest tile: it has fewer vertices" }, { id: "codelet", title: "slowest vertex", value: (s) => report.codelets[s.slowest_codelet]?.name ?? "–" }, { id: "vertex", title: "its cycles", value: (s) => s.slowest_cycles },
        { id: "executions", title: "executions", value: (s) => s.executions }, { id: "tiles", title: "tiles of the stream", value: (s) => tiles_of_stream(report, s.stream), hidden: true },
        { id: "unestimated", title: "vertices without estimate", value: (s) => s.unestimated, hidden: true }, source_column((s: { program: number }) => report.program[s.program]?.sources),
      ]} />
      {chosen ? <Distribution report={report} step={chosen} /> : <Empty>There is no compute step.</Empty>}
    </>
  );
}

const view: View = { id: "balance", title: "Balance", order: 6, widgets: ["lines", "tiles", "tables"], missing: (r) => (!r.executed ? "Nothing was executed: the report has no cycles." : r.computes ? undefined : "No step computes, or none of its vertices has an estimate."), show: Balance };
export default view;
