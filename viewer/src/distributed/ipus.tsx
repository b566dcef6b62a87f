// The IPUs of a program: schedule with its messages, bytes between them, memory over time, where variables lie.
import { useMemo } from "preact/hooks";
import { kKinds, kKindTitles } from "../colours.ts";
import { bytes, percent, short_bytes } from "../format.ts";
import { lanes_source } from "../pictures/lanes.ts";
import { kTerms, Report, Stream } from "../report/report.ts";
import { set, use_param } from "../state.ts";
import { ViewProps } from "../view.ts";
import { Choice, Legend, Link } from "../widgets/parts.tsx";
import { Picture } from "../widgets/picture.tsx";
import { Plot } from "../widgets/plot.tsx";
import { Table } from "../widgets/table.tsx";
import { all_traces } from "../report/traces.ts";
import { ipu_text, memory_by_step, memory_over_time, PlacedValue, placed_values, with_messages } from "./ipu_data.ts";
import { Messages } from "./messages.tsx";
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

export function Ipus({ report }: ViewProps) {
  const traces = useMemo(() => all_traces(report), [report]), lanes = useMemo(() => lanes_source(report, traces), [report, traces]), devices = useMemo(() => devices_of(report), [report]);
  const length = Math.max(1, ...traces.map((t) => t.length)), moved = useMemo(() => between(report), [report]), n = report.target.ipus;
  const pairs = [...moved].map((b, i) => ({ from: Math.floor(i / n), to: i % n, bytes: b })).filter((p) => p.from !== p.to && p.bytes > 0);
  const bubbles = devices.reduce((s, d) => s + (length - d.busy), 0) / (length * n);
  const memory = useMemo(() => (report.executed ? memory_over_time(report, traces) : undefined), [report, traces]), by_step = useMemo(() => (memory ? [] : memory_by_step(report)), [report, memory]);
  const arrows = use_param("arrows", "on") === "on", schedule = useMemo(() => with_messages(report, traces, lanes, arrows), [report, traces, lanes, arrows]);
  const values = useMemo(() => placed_values(report), [report]);
  const time = Number(use_param("time", "NaN"));
  return (
    <>
      {report.executed && <p>Of the time of {n} IPUs, {percent(1 - bubbles)} is compute; {percent(bubbles)} is exchange, sync, host and waiting.</p>}
      {report.executed && traces.some((t) => t.nodes.length > 0) && (
        <>
          <div class="bar">
            <Legend items={kTerms.filter((t) => report.streams.some((s) => s.cycles[t] > 0)).map((t) => ({ title: kKindTitles[t]!, colour: kKinds[t]! }))} />
            <Choice title="messages" value={arrows ? "on" : "off"} on={(v) => set({ arrows: v })} options={[{ id: "on", title: "as arrows" }, { id: "off", title: "hidden" }]} />
          </div>
          <Picture id="schedule" group="time" source={schedule} height={Math.min(460, 20 + traces.length * (traces.length > 8 ? 24 : 40))} title="schedule of the IPUs" margin_left={110} mark={{ x: Number.isFinite(time) ? time : undefined }} />
        </>
      )}
      <Table id="devices" rows={devices} noun="IPU" height={300} columns={[
        { id: "ipu", title: "IPU", value: (d) => d.ipu }, { id: "busy", title: "compute cycles", value: (d) => d.busy, bar: true, hidden: !report.executed }, { id: "share", title: "share of the time", value: (d) => d.busy / length, text: percent, hidden: !report.executed }, { id: "idle", title: "waits", value: (d) => d.idle, hidden: !report.executed },
        { id: "sent", title: "sent to other IPUs", value: (d) => d.sent, text: bytes }, { id: "received", title: "received from them", value: (d) => d.received, text: bytes }, { id: "fullest", title: "fullest tile", value: (d) => d.fullest, text: bytes }, { id: "memory", title: "memory in use", value: (d) => d.memory, text: bytes },
      ]} />
      <h3>Messages between IPUs</h3>
      <Messages count={n} name={(i) => `IPU ${i}`} pairs={pairs} />
      <p><Link view="exchange" params={{ by: "ipu" }}>as a matrix, by exchange</Link></p>
      {memory && (
        <>
          <h3>Memory in use over time</h3>
          <Plot id="ipu-memory" title="memory of the IPUs over time" lines={memory.lines} x={memory.x} steps x_title="cycles" text={short_bytes} />
        </>
      )}
      {by_step.length > 0 && (
        <>
          <h3>Memory of the fullest tile by step</h3>
          <Plot id="ipu-memory" title="memory by stream" lines={by_step} steps x_title="step" text={short_bytes} />
        </>
      )}
      {values.length > 0 && (
        <>
          <h3>Where values lie</h3>
          <Table id="values" rows={values} noun="variable" sort="-sum" height={300} columns={[
            { id: "name", title: "variable", value: (v) => v.name }, { id: "on", title: "IPUs", value: (v) => ipu_text(v.bytes) }, { id: "sum", title: "memory", value: (v) => v.sum, text: bytes, bar: true },
            ...devices.slice(0, 16).map((d) => ({ id: `ipu${d.ipu}`, title: `IPU ${d.ipu}`, value: (v: PlacedValue) => v.bytes[d.ipu]!, text: (b: number) => (b > 0 ? bytes(b) : "") })),
          ]} />
        </>
      )}
      <p class="soft">What a search found is a report of its own: <code>pando search --report</code>.</p>
    </>
  );
}

