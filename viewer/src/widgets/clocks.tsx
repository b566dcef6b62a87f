// A step by three clocks: as it was predicted, by the machine's, by the host's. The lanes have one axis and one zoom.
import { useMemo } from "preact/hooks";
import { kKinds, kKindTitles, series } from "../colours.ts";
import { count, seconds, times } from "../format.ts";
import { lanes_source } from "../pictures/lanes.ts";
import { by_host, plan_lanes } from "../pictures/plan_lanes.ts";
import { Part, stacked_source } from "../pictures/stacked.ts";
import { kTerms, Report, Run } from "../report/report.ts";
import { Plan } from "../report/plan.ts";
import { Trace } from "../report/trace.ts";
import { set, use_index, use_param } from "../state.ts";
import { Choice, Legend } from "./parts.tsx";
import { Picture, Source } from "./picture.tsx";
import { Table } from "./table.tsx";

interface Clock {
  name: "predicted" | "modelled" | "host";
  seconds: number;
  of: string;
  source: Source;
  /** Of the source: where the step begins, and its units in a second. */
  from: number;
  rate: number;
  legend: { title: string; colour: string }[];
}

/** The last run of the program whose runs take most cycles: `pando report --ask clocks` takes the same. */
export function main_run(runs: Run[]): number | undefined {
  if (runs.length === 0) return undefined;
  const longest = runs.reduce((a, b) => (b.end - b.begin > a.end - a.begin ? b : a));
  return runs.reduce((last, r, i) => (r.program === longest.program ? i : last), 0);
}

/** The host says of a run how long it took. */
function run_source(title: string, length: number): Source {
  return {
    bounds: { x0: 0, x1: length, y0: 0, y1: 1 }, x_title: "time", x_label: seconds, y_label: () => title, chunks: () => [],
    over: (c, view, width, height) => {
      const sx = width / (view.x1 - view.x0);
      c.fillStyle = series(1);
      c.fillRect(-view.x0 * sx, 1, length * sx, height - 2);
    },
    at: (x) => (x >= 0 && x <= length ? `${title}: ${seconds(length)}` : "nothing"),
    next: () => length / 2,
  };
}

function clocks_of(report: Report, traces: Trace[], run: number | undefined): Clock[] {
  const out: Clock[] = [], predicted = report.predicted, plan = report.plan;
  const add = (clock: Omit<Clock, "legend" | "source" | "from" | "rate">, of: Plan) => {
    const source = plan_lanes(of, false);
    out.push({ ...clock, source, from: 0, rate: 1, legend: source.legend });
  };
  if (predicted?.devices.length) add({ name: "predicted", seconds: predicted.seconds, of: predicted.title }, predicted);
  if (plan) {
    add({ name: "modelled", seconds: plan.seconds, of: "a step" }, plan);
    const host = by_host(plan);
    if (host !== plan) add({ name: "host", seconds: host.seconds, of: "a step" }, host);
    return out;
  }
  const r = run === undefined ? undefined : report.run_times[run];
  if (!r) return out;
  const of = `run ${run! + 1}, of program ${r.program}`;
  if (report.target.clock_hz > 0) out.push({ name: "modelled", seconds: report.seconds(r.end - r.begin), of, source: lanes_source(report, traces), from: r.begin, rate: report.target.clock_hz,
    legend: kTerms.filter((t) => report.streams.some((s) => s.cycles[t] > 0)).map((t) => ({ title: kKindTitles[t]!, colour: kKinds[t]! })) });
  out.push({ name: "host", seconds: r.host_ns / 1e9, of, source: run_source(of, r.host_ns / 1e9), from: 0, rate: 1, legend: [] });
  return out;
}

function legend_text(clock: Clock): string {
  return clock.legend.map((l) => l.title + l.colour).join();
}

export function Clocks({ report, traces }: { report: Report; traces: Trace[] }) {
  const chosen = use_index("run", report.run_times.length), run = chosen ?? main_run(report.run_times), wanted = use_param("clocks.scale");
  const clocks = useMemo(() => clocks_of(report, traces, run), [report, traces, run]), modelled = clocks.find((c) => c.name === "modelled");
  const longest = Math.max(1e-12, ...clocks.map((c) => c.seconds));
  // A clock that is a fiftieth of another one shows nothing at the same scale.
  const usual = clocks.some((c) => c.seconds < longest / 50) ? "own" : "same", scale = wanted === "own" || wanted === "same" ? wanted : usual;
  const source = useMemo(() => {
    const parts: Part[] = clocks.map((c) => ({ title: c.name, source: c.source, from: c.from, scale: (scale === "own" ? Math.max(1e-12, c.seconds) : 1) * c.rate, length: scale === "own" ? 1 : c.seconds }));
    return stacked_source(parts, scale === "own" ? 1 : longest, scale === "own" ? (x) => `${+(100 * x).toPrecision(4)} %` : seconds);
  }, [clocks, scale, longest]);
  const rows = source.bounds.y1, why_not = report.predicted?.text.trim() ?? "";
  return (
    <>
      <h3>A step by three clocks</h3>
      {!clocks.some((c) => c.name === "predicted") && <p class="soft">No prediction: {why_not.replace(/^no prediction: /, "") || "the report has none. pando run --profile and popxl.Session(profile=...) write one, and pando simulate PROGRAM --into REPORT adds it."}</p>}
      {clocks.length > 0 && (
        <>
          <div class="bar">
            <Choice title="scale" value={scale} on={(v) => set({ "clocks.scale": v === usual ? "" : v, clocks: "" })} options={[{ id: "same", title: "the same seconds" }, { id: "own", title: "each clock fills the width" }]} />
            {report.run_times.length > 1 && <Choice title="run" value={String(run)} on={(v) => set({ run: v, clocks: "" })} options={report.run_times.slice(0, 200).map((r, i) => ({ id: String(i), title: `${i + 1} (program ${r.program}, ${count(r.end - r.begin)} cycles)` }))} />}
          </div>
          {clocks.map((c, i) => c.legend.length > 0 && clocks.findIndex((o) => legend_text(o) === legend_text(c)) === i && (
            <div class="bar"><span class="soft">{clocks.filter((o) => legend_text(o) === legend_text(c)).map((o) => o.name).join(", ")}:</span><Legend items={c.legend} /></div>))}
          <Picture key={`${scale} ${run}`} id="clocks" source={source} height={Math.min(520, 20 + rows * (rows > 12 ? 20 : 34))} title="predicted, modelled and host clock" margin_left={170} />
          <Table id="clock" rows={clocks} noun="clock" height={150} columns={[
            { id: "clock", title: "clock", value: (c) => c.name }, { id: "seconds", title: "a step takes", value: (c) => c.seconds, text: seconds },
            { id: "ratio", title: "of the modelled time", value: (c) => (modelled ? c.seconds / modelled.seconds : NaN), text: times }, { id: "of", title: "of", value: (c) => c.of },
          ]} />
          {report.predicted?.devices.length ? <pre class="soft">{report.predicted.text.trim()}</pre> : null}
        </>
      )}
    </>
  );
}
