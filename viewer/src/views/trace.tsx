import { useMemo } from "preact/hooks";
import { kKinds, kKindTitles, rgb } from "../colours.ts";
import { count, percent, plural, seconds, times } from "../format.ts";
import { busy_tiles_source } from "../pictures/busy_tiles.ts";
import { describe_event, lanes_source } from "../pictures/lanes.ts";
import { kTerms, Report } from "../report/report.ts";
import { all_traces } from "../report/traces.ts";
import { set, use_index, use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { Clocks } from "../widgets/clocks.tsx";
import { add_path, Flame, flame_root } from "../widgets/flame.tsx";
import { Choice, Empty, Legend, Link } from "../widgets/parts.tsx";
import { Picture, show_in_group } from "../widgets/picture.tsx";
import { Table } from "../widgets/table.tsx";

function FlameOfSteps({ report, stream }: { report: Report; stream: number | undefined }) {
  const term = use_param("flame.of", "all");
  const root = useMemo(() => {
    const root = flame_root("all steps"), by_name = new Map<string, number>();
    for (const s of report.steps) {
      if (stream !== undefined && s.stream !== stream) continue;
      const value = term === "all" ? s.total - s.cycles.wait : s.cycles[term as keyof typeof s.cycles];
      if (value > 0) by_name.set(s.name || s.kind, (by_name.get(s.name || s.kind) ?? 0) + value);
    }
    for (const [name, value] of by_name) add_path(root, name.split("/").filter(Boolean), value);
    return root;
  }, [report, stream, term]);
  return (
    <>
      <div class="bar"><Choice title="cycles of" value={term} on={(v) => set({ "flame.of": v })} options={[{ id: "all", title: "all but waits" }, ...kTerms.filter((t) => report.streams.some((s) => s.cycles[t] > 0)).map((t) => ({ id: t, title: kKindTitles[t]! }))]} /></div>
      <Flame id="flame" root={root} title="cycles by debug path" text={(v) => `${count(v)} cycles`} />
    </>
  );
}

function Trace_(props: ViewProps) {
  return props.report.plan ? <Clocks report={props.report} traces={[]} /> : <TraceOfStreams {...props} />;
}

function TraceOfStreams({ report }: ViewProps) {
  const traces = useMemo(() => all_traces(report), [report]), dark = document.documentElement.dataset["theme"] === "dark";
  const stream = use_index("stream", report.streams.length), time = Number(use_param("time", "NaN")), find = use_param("find");
  const lanes = useMemo(() => lanes_source(report, traces), [report, traces]);
  const tiles = useMemo(() => busy_tiles_source(report, traces, rgb(dark ? "#232b35" : "#eceff2")), [report, traces, dark]);
  const with_tiles = report.target.tiles > 1 && report.streams.some((s) => s.tiles.length > 0);
  const pick = (x: number, lane: number | undefined) => {
    const e = traces[lane ?? 0]?.at(x), step = e && report.steps[e.step];
    set({ time: x.toFixed(0), ...(lane !== undefined ? { stream: String(lane) } : {}), ...(step ? { step: String(step.order) } : {}) });
  };
  const jump = (again: boolean) => {
    const words = find.toLowerCase();
    if (!words) return;
    const matches = (s: number) => (report.steps[s]?.name ?? "").toLowerCase().includes(words);
    for (const from of [again && Number.isFinite(time) ? time + 1 : 0, 0]) {
      const found = traces.map((t, i) => ({ e: t.next_of(matches, from), i })).filter((f) => f.e && f.e.begin >= from - 1e-6).sort((a, b) => a.e!.begin - b.e!.begin)[0];
      if (!found?.e) continue;
      const middle = (found.e.begin + found.e.gap + found.e.end) / 2, span = Math.max(found.e.end - found.e.begin, 50) * 6;
      show_in_group("time", middle - span / 2, middle + span / 2);
      set({ time: middle.toFixed(0), stream: String(found.i), step: String(report.steps[found.e.step]?.order ?? "") });
      return;
    }
  };
  const executed = traces.reduce((n, t) => n + t.events, 0), left_out = traces.reduce((n, t) => n + t.left_out, 0);
  const at = Number.isFinite(time) ? report.streams.map((s, i) => ({ s, e: traces[i]!.at(time) })) : [];
  const matching = find ? report.steps.filter((s) => s.name.toLowerCase().includes(find.toLowerCase())) : [];
  if (executed === 0) return <><Empty>The report has no trace: it holds sums by step.</Empty><FlameOfSteps report={report} stream={undefined} /></>;
  return (
    <>
      <div class="bar">
        <input type="search" class="find" placeholder="find a step" aria-label="find a step" value={find} onInput={(e) => set({ find: e.currentTarget.value })}
          onKeyDown={(e) => { if (e.key === "Enter") jump(true); }} />
        <button onClick={() => jump(true)} disabled={!find}>next</button>
        {find && <span class="soft">{plural(matching.length, "step")} of the program, {percent(matching.reduce((n, s) => n + s.total, 0) / Math.max(1, report.steps.reduce((n, s) => n + s.total, 0)))} of the cycles</span>}
        <span style={{ flex: 1 }} />
        <span class="soft">{plural(executed, "executed step")}{report.events_lost > 0 ? ` (and ${count(report.events_lost)} that the report has no room for)` : ""}, {count(lanes.bounds.x1)} cycles{report.target.clock_hz ? ` = ${seconds(report.seconds(lanes.bounds.x1))}` : ""}</span>
      </div>
      {left_out > 0 && <p class="soft">The trace is longer than a page can show: this is its beginning. {plural(left_out, "row")} of the report are left out; <code>pando report FILE --export csv --table trace</code> writes all of them.</p>}
      <Legend items={kTerms.filter((t) => report.streams.some((s) => s.cycles[t] > 0)).map((t) => ({ title: kKindTitles[t]!, colour: kKinds[t]! }))} />
      <Picture id="lanes" group="time" source={lanes} height={Math.min(420, 20 + traces.length * (traces.length > 8 ? 22 : 34))} title="streams over time" margin_left={110}
        mark={{ x: Number.isFinite(time) ? time : undefined, y: stream }} on_pick={(x, y) => pick(x, Math.floor(y))} />
      {with_tiles && (
        <>
          <h3>Tiles</h3>
          <p class="soft">Each row is a tile (or several, far out): blue where it computes, bare where it waits for slower tiles.</p>
          <Picture id="tiles" group="time" source={tiles} height={420} title="tiles over time" margin_left={110} mark={{ x: Number.isFinite(time) ? time : undefined, y: use_index("tile", report.target.tiles) }}
            on_pick={(x, y) => { pick(x, report.streams.findIndex((s) => s.tiles.some((b, k) => k % 2 === 0 && y >= b && y < s.tiles[k + 1]!))); set({ tile: String(Math.max(0, Math.floor(y))) }); }} />
        </>
      )}
      {at.length > 0 && (
        <>
          <h3>At cycle {count(time)}</h3>
          {at.filter((a) => a.e).map(({ s, e }) => {
            const step = report.steps[e!.step];
            return (
              <p style={{ whiteSpace: "pre-line" }}>
                <b>{s.name}</b>: {describe_event(report, e!)}
                {step && <>{"\n"}<Link view="program" params={{ step: String(step.order) }}>in the program</Link>{step.cycles.compute > 0 && <> · <Link view="balance" params={{ step: String(step.order), stream: String(step.stream) }}>its balance</Link></>} · <Link view="liveness" params={{ step: String(step.order) }}>what is live</Link></>}
              </p>
            );
          })}
        </>
      )}
      <h3>Cycles by debug path{stream !== undefined && <span class="soft"> · of {report.streams[stream]!.name} <button onClick={() => set({ stream: "" })}>all streams</button></span>}</h3>
      <FlameOfSteps report={report} stream={stream} />
      {report.run_times.length > 0 && (
        <>
          <Clocks report={report} traces={traces} />
          <h3>Runs</h3>
          <Table id="runs" rows={report.run_times} noun="run" height={260} columns={[
            { id: "run", title: "run", value: (r) => report.run_times.indexOf(r) + 1 }, { id: "program", title: "program", value: (r) => r.program },
            { id: "cycles", title: "modelled cycles", value: (r) => r.end - r.begin }, { id: "modelled", title: "modelled time", value: (r) => report.seconds(r.end - r.begin), text: seconds },
            { id: "host", title: "host time", value: (r) => r.host_ns / 1e9, text: seconds }, { id: "ratio", title: "host / modelled", value: (r) => r.host_ns / 1e9 / report.seconds(r.end - r.begin), text: times },
          ]} />
        </>
      )}
    </>
  );
}

const view: View = {
  id: "trace", title: "Trace", order: 4, widgets: ["pictures", "tables"], show: Trace_,
  missing: (r) => (r.executed || r.plan?.events.host_seconds ? undefined : r.out_of_memory ? "The program did not fit, so nothing was executed." : "The program was compiled and not run: there is no trace."),
  keys: [["/ then Enter", "jump to the next step whose name holds the text"]],
};
export default view;
