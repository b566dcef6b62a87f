import { useMemo } from "preact/hooks";
import { kKinds, kKindTitles } from "../colours.ts";
import { bytes, count, percent, short_bytes } from "../format.ts";
import { lanes_source } from "../pictures/lanes.ts";
import { kTerms, Report, Stream } from "../report/report.ts";
import { use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { Legend, Link } from "../widgets/parts.tsx";
import { Picture } from "../widgets/picture.tsx";
import { Line, Plot } from "../widgets/plot.tsx";
import { Table } from "../widgets/table.tsx";
import { series } from "../colours.ts";
import { all_traces } from "./trace.tsx";
import { exchange_times } from "../report/tiles.ts";

interface Device {
  ipu: number;
  streams: Stream[];
  busy: number;
  idle: number;
  sent: number;
  received: number;
  fullest: number;
  memory: number;
}

/** Bytes from IPU to IPU in all of the run. */
function between(report: Report): Float64Array {
  const n = report.target.ipus, per = report.target.tiles_per_ipu, out = new Float64Array(n * n), times = exchange_times(report);
  for (const e of report.exchanges) {
    const t = report.traffic(e.index), runs = report.executed ? times[e.index]! : 1;
    for (let k = 0; k < t.from.length; ++k) out[Math.floor((t.from[k]! * e.block) / per) * n + Math.floor((t.to[k]! * e.block) / per)]! += runs * t.bytes[k]!;
  }
  return out;
}

function devices_of(report: Report): Device[] {
  const n = report.target.ipus, per = report.target.tiles_per_ipu, moved = between(report);
  return Array.from({ length: n }, (_, ipu) => {
    const streams = report.streams.filter((s) => s.ipu === ipu), main = streams.filter((s) => !s.io);
    let sent = 0, received = 0, fullest = 0, memory = 0;
    for (let o = 0; o < n; ++o) if (o !== ipu) (sent += moved[ipu * n + o]!), (received += moved[o * n + ipu]!);
    for (let t = ipu * per; t < (ipu + 1) * per && t < report.tiles; ++t) (fullest = Math.max(fullest, report.tile_with_gaps[t]!)), (memory += report.tile_used[t]!);
    const busy = main.reduce((s, m) => s + m.cycles.compute, 0), idle = main.reduce((s, m) => s + m.cycles.wait, 0);
    return { ipu, streams, busy, idle, sent, received, fullest, memory };
  });
}

function Distributed({ report }: ViewProps) {
  const traces = useMemo(() => all_traces(report), [report]), lanes = useMemo(() => lanes_source(report, traces), [report, traces]), devices = useMemo(() => devices_of(report), [report]);
  const length = Math.max(1, ...traces.map((t) => t.length)), moved = useMemo(() => between(report), [report]), n = report.target.ipus;
  const pairs = [...moved].map((b, i) => ({ from: Math.floor(i / n), to: i % n, bytes: b })).filter((p) => p.from !== p.to && p.bytes > 0);
  const bubbles = devices.reduce((s, d) => s + (length - d.busy), 0) / (length * n);
  const memory = useMemo((): Line[] => {
    const end = report.streams.reduce((m, s) => Math.max(m, ...report.liveness(s).order.slice(-1)), 0) + 1;
    return report.streams.filter((s) => s.liveness[1] > s.liveness[0]).map((s, i) => {
      const l = report.liveness(s), values = new Float64Array(end);
      let at = 0;
      for (let o = 0; o < end; ++o) {
        while (at + 1 < l.order.length && l.order[at + 1]! <= o) ++at;
        values[o] = l.worst[at] ?? 0;
      }
      return { title: s.name, colour: series(i), values };
    });
  }, [report]);
  const time = Number(use_param("time", "NaN"));
  return (
    <>
      {report.executed && <p>Of the time of {n} IPUs, {percent(1 - bubbles)} is compute; {percent(bubbles)} is exchange, sync, host and waiting.</p>}
      {report.executed && traces.some((t) => t.nodes.length > 0) && (
        <>
          <Legend items={kTerms.filter((t) => report.streams.some((s) => s.cycles[t] > 0)).map((t) => ({ title: kKindTitles[t]!, colour: kKinds[t]! }))} />
          <Picture id="schedule" group="time" source={lanes} height={Math.min(460, 20 + traces.length * (traces.length > 8 ? 24 : 40))} title="schedule of the IPUs" margin_left={110} mark={{ x: Number.isFinite(time) ? time : undefined }} />
        </>
      )}
      <Table id="devices" rows={devices} noun="IPU" height={300} columns={[
        { id: "ipu", title: "IPU", value: (d) => d.ipu }, { id: "busy", title: "compute cycles", value: (d) => d.busy, bar: true, hidden: !report.executed }, { id: "share", title: "share of the time", value: (d) => d.busy / length, text: percent, hidden: !report.executed }, { id: "idle", title: "waits", value: (d) => d.idle, hidden: !report.executed },
        { id: "sent", title: "sent to other IPUs", value: (d) => d.sent, text: bytes }, { id: "received", title: "received from them", value: (d) => d.received, text: bytes }, { id: "fullest", title: "fullest tile", value: (d) => d.fullest, text: bytes }, { id: "memory", title: "memory in use", value: (d) => d.memory, text: bytes },
      ]} />
      <h3>Messages between IPUs</h3>
      <Messages report={report} pairs={pairs} />
      <p><Link view="exchange" params={{ by: "ipu" }}>as a matrix, by exchange</Link></p>
      {memory.length > 0 && (
        <>
          <h3>Memory of the fullest tile by step</h3>
          <Plot title="memory by stream" lines={memory} steps x_title="step" text={short_bytes} />
        </>
      )}
      <p class="soft">What a search found is a report of its own: <code>pando search --report</code>.</p>
    </>
  );
}

function Messages({ report, pairs }: { report: Report; pairs: { from: number; to: number; bytes: number }[] }) {
  const n = report.target.ipus, most = Math.max(1, ...pairs.map((p) => p.bytes)), step = 150, shown = Math.min(n, 16);
  if (!pairs.length) return <p class="soft">No exchange of the program goes from one IPU to another.</p>;
  const x = (i: number) => 60 + i * Math.min(step, 900 / shown);
  const high = 60 + 22 * Math.min(shown, Math.max(...pairs.map((p) => Math.abs(p.from - p.to))));
  return (
    <svg viewBox={`0 0 ${x(shown - 1) + 60} ${2 * high + 30}`} style={{ maxWidth: "64rem", width: "100%", maxHeight: "26rem" }} role="img" aria-label={pairs.map((p) => `IPU ${p.from} to ${p.to}: ${bytes(p.bytes)}`).join("; ")}>
      <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="currentColor" /></marker></defs>
      {pairs.filter((p) => p.from < shown && p.to < shown).map((p) => {
        const a = x(p.from), b = x(p.to), up = p.to > p.from, d = 22 * Math.abs(p.to - p.from) + 18, y = high + (up ? -14 : 14), m = (a + b) / 2;
        return (
          <g>
            <path d={`M${a} ${y} Q${m} ${y + (up ? -2 : 2) * d} ${b} ${y}`} fill="none" stroke={kKinds["global_exchange"]} stroke-width={1 + (4 * p.bytes) / most} marker-end="url(#tip)"><title>{`IPU ${p.from} → ${p.to}: ${count(p.bytes)} bytes`}</title></path>
            {pairs.length <= 24 && <text x={m} y={y + (up ? -1 : 1) * d + (up ? -5 : 14)} font-size="12" text-anchor="middle" fill="currentColor">{short_bytes(p.bytes)}</text>}
          </g>
        );
      })}
      {Array.from({ length: shown }, (_, i) => <g><rect x={x(i) - 26} y={high - 13} width="52" height="26" rx="4" fill="var(--panel)" stroke="currentColor" /><text x={x(i)} y={high + 4} font-size="13" text-anchor="middle" fill="currentColor">IPU {i}</text></g>)}
    </svg>
  );
}

const view: View = { id: "distributed", title: "Distributed", order: 8, missing: (r) => (r.target.ipus > 1 ? undefined : "The program runs on one IPU: there is nothing distributed."), show: Distributed };
export default view;
