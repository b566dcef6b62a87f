import { kKinds, kKindTitles } from "../colours.ts";
import { bytes, count, percent, plural, seconds } from "../format.ts";
import { Cycles, kTerms, Report, total } from "../report/report.ts";
import { View, ViewProps } from "../view.ts";
import { AdviceList } from "../widgets/advice.tsx";
import { Card, Facts, Legend, Link } from "../widgets/parts.tsx";
import { Table } from "../widgets/table.tsx";

function TermBar(props: { cycles: Cycles; height?: number }) {
  const all = Math.max(1, total(props.cycles));
  return (
    <div style={{ display: "flex", height: `${props.height ?? 16}px`, width: "100%", maxWidth: "60rem" }} role="img" aria-label={kTerms.map((t) => `${kKindTitles[t]} ${percent(props.cycles[t] / all)}`).join(", ")}>
      {kTerms.filter((t) => props.cycles[t] > 0).map((t) => (
        <span title={`${kKindTitles[t]}: ${count(props.cycles[t])} cycles, ${percent(props.cycles[t] / all)}`} style={{ background: kKinds[t], width: `${(100 * props.cycles[t]) / all}%` }} />
      ))}
    </div>
  );
}

function fullest(report: Report): { tile: number; used: number } {
  // Of tiles that are as full, the one of the peak; where the program does not fit, the first, which the message names.
  let tile = report.out_of_memory ? 0 : (report.peak?.tile ?? 0), used = report.tile_with_gaps[tile] ?? 0;
  report.tile_with_gaps.forEach((b, t) => { if (b > used) (used = b), (tile = t); });
  return { tile, used };
}

function Summary({ report }: ViewProps) {
  const t = report.target, most = fullest(report), peak = report.peak, host = report.run_times.reduce((s, r) => s + r.host_ns, 0) / 1e9;
  const used_tiles = report.tile_used.reduce((n, b) => n + (b > 0 ? 1 : 0), 0);
  return (
    <>
      {report.out_of_memory && (
        <div class="advice" style={{ borderLeftColor: "var(--bad)" }}>
          <p><b>It does not fit.</b> {report.out_of_memory.split("\n")[0]}</p>
          <p><Link view="out-of-memory">What does not fit, and what would</Link></p>
        </div>
      )}
      <div class="cards">
        {report.executed && <Card value={seconds(report.seconds(report.total_cycles))} title={`${count(report.total_cycles)} cycles, modelled`} />}
        {host > 0 && <Card value={seconds(host)} title={`host time, ${plural(report.run_times.length, "run")}`} help="Wall-clock time that this computer needed" />}
        {report.tiles > 0 && <Card value={bytes(most.used)} title={`fullest tile (${most.tile}), gaps included${t.bytes_per_tile ? `, ${percent(most.used / t.bytes_per_tile)} of ${bytes(t.bytes_per_tile)}` : ""}`} />}
        {report.tiles > 0 && <Card value={bytes(report.categories.reduce((s, c) => s + c.bytes, 0))} title={`over ${plural(used_tiles, "tile")} in use`} />}
        <Card value={count(report.graph["vertices"] ?? 0)} title={`vertices in ${plural(report.graph["compute_sets"] ?? 0, "compute set")}`} />
        <Card value={count(report.graph["variables"] ?? 0)} title={`variables, ${plural(report.graph["edges"] ?? 0, "edge")}`} />
      </div>
      {peak && !report.out_of_memory && (
        <p>
          Memory is fullest at step <Link view="liveness" params={{ step: String(peak.order), stream: String(peak.stream.index) }}>{report.liveness(peak.stream).name(peak.step) || `at order ${peak.order}`}</Link>, on{" "}
          <Link view="memory" params={{ tile: String(peak.tile), step: String(peak.order) }}>tile {peak.tile}</Link>: {bytes(peak.bytes)}.
        </p>
      )}
      <AdviceList report={report} />
      {report.executed && report.streams.length > 0 && (
        <>
          <h3>Where the cycles go</h3>
          <Legend items={kTerms.filter((k) => report.streams.some((s) => s.cycles[k] > 0)).map((k) => ({ title: kKindTitles[k]!, colour: kKinds[k]! }))} />
          {report.streams.slice(0, 16).map((s) => (
            <div style={{ display: "grid", gridTemplateColumns: "9rem 1fr 9rem", gap: "0.8rem", alignItems: "center", margin: "0.2rem 0", maxWidth: "75rem" }}>
              <Link view="trace" params={{ stream: String(s.index) }}>{s.name}</Link>
              <TermBar cycles={s.cycles} />
              <span class="soft">{count(s.finish)} cycles</span>
            </div>
          ))}
          {report.streams.length > 16 && <p class="soft">and {plural(report.streams.length - 16, "stream")} more: see the trace</p>}
        </>
      )}
      {!report.executed && !report.out_of_memory && <p class="soft">The program was compiled and not run: the report holds memory, and no cycles.</p>}
      <div class="columns">
        <div>
          <h3>Target</h3>
          <Facts rows={[
            ["machine", t.name], ["IPUs", count(t.ipus)], ["tiles", `${count(t.tiles)} (${count(t.tiles_per_ipu)} of an IPU)`], ["workers of a tile", count(t.workers)],
            ["memory of a tile", t.bytes_per_tile ? bytes(t.bytes_per_tile) : "unbounded"], ["clock", t.clock_hz ? `${(t.clock_hz / 1e9).toFixed(3)} GHz` : "–"], ["replicas", count(t.replicas ?? 1)],
            ["runs", count(report.runs)], ["report written by", report.container.writer || "–"],
          ]} />
        </div>
        <div>
          <h3>Memory by category</h3>
          <Table id="categories" rows={report.categories.filter((c) => c.bytes > 0)} sort="-bytes" noun="category" height={400} wrap columns={[
            { id: "name", title: "category", value: (c) => c.name + (c.estimated ? " (estimate)" : "") },
            { id: "bytes", title: "bytes", value: (c) => c.bytes, text: bytes, bar: true },
            { id: "meaning", title: "what it is", value: (c) => c.meaning },
            { id: "reduce", title: "what makes it less", value: (c) => c.reduce, hidden: true },
          ]} />
        </div>
      </div>
    </>
  );
}

const view: View = { id: "summary", title: "Summary", order: 1, widgets: ["tables"], missing: () => undefined, show: Summary };
export default view;
