// A step by three clocks: as it was predicted, by the machine's, by the host's. The lanes have one axis and one zoom.
import { useMemo } from "preact/hooks";
import { series } from "../colours.ts";
import { count, seconds } from "../format.ts";
import { lanes_source } from "../pictures/lanes.ts";
import { by_host, plan_lanes } from "../pictures/plan_lanes.ts";
import { Part, stacked_source } from "../pictures/stacked.ts";
import { Report, Run } from "../report/report.ts";
import { Trace } from "../report/trace.ts";
import { set, use_index, use_param } from "../state.ts";
import { Choice } from "./parts.tsx";
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
  if (predicted?.devices.length) out.push({ name: "predicted", seconds: predicted.seconds, of: predicted.title, source: plan_lanes(predicted, false), from: 0, rate: 1 });
  if (plan) {
    out.push({ name: "modelled", seconds: plan.seconds, of: "a step", source: plan_lanes(plan, false), from: 0, rate: 1 });
    const host = by_host(plan);
    if (host !== plan) out.push({ name: "host", seconds: host.seconds, of: "a step", source: plan_lanes(host, false), from: 0, rate: 1 });
    return out;
  }
  const r = run === undefined ? undefined : report.run_times[run];
  if (!r) return out;
  const of = `run ${run! + 1}, of program ${r.program}`;
  if (report.target.clock_hz > 0) out.push({ name: "modelled", seconds: report.seconds(r.end - r.begin), of, source: lanes_source(report, traces), from: r.begin, rate: report.target.clock_hz });
  out.push({ name: "host", seconds: r.host_ns / 1e9, of, source: run_source(of, r.host_ns / 1e9), from: 0, rate: 1 });
  return out;
}

export function Clocks({ report, traces }: { report: Report; traces: Trace[] }) {
  const chosen = use_index("run", report.run_times.length), run = chosen ?? main_run(report.run_times), scale = use_param("clocks.scale", "same");
  const clocks = useMemo(() => clocks_of(report, traces, run), [report, traces, run]), modelled = clocks.find((c) => c.name === "modelled");
  const longest = Math.max(1e-12, ...clocks.map((c) => c.seconds));
  const source = useMemo(() => {
    const parts: Part[] = clocks.map((c) => ({ title: c.name, source: c.source, from: c.from, scale: (scale === "own" ? Math.max(1e-12, c.seconds) / longest : 1) * c.rate, length: scale === "own" ? longest : c.seconds }));
    return stacked_source(parts, longest, scale === "own" ? (x) => `${+((100 * x) / longest).toPrecision(4)} %` : seconds);
  }, [clocks, scale, longest]);
  const rows = source.bounds.y1, why_not = report.predicted?.text.trim() ?? "";
  return (
    <>
      <h3>A step by three clocks</h3>
      {!clocks.some((c) => c.name === "predicted") && <p class="soft">No prediction: {why_not.replace(/^no prediction: /, "") || "the report has none. pando run --profile and popxl.Session(profile=...) write one, and pando simulate PROGRAM --into REPORT adds it."}</p>}
      {clocks.length > 0 && (
        <>
          <div class="bar">
            <Choice title="scale" value={scale} on={(v) => set({ "clocks.scale": v === "same" ? "" : v, clocks: "" })} options={[{ id: "same", title: "the same seconds" }, { id: "own", title: "each clock fills the width" }]} />
            {report.run_times.length > 1 && <Choice title="run" value={String(run)} on={(v) => set({ run: v, clocks: "" })} options={report.run_times.slice(0, 200).map((r, i) => ({ id: String(i), title: `${i + 1} (program ${r.program}, ${count(r.end - r.begin)} cycles)` }))} />}
          </div>
          <Picture key={`${scale} ${run}`} id="clocks" source={source} height={Math.min(520, 20 + rows * (rows > 12 ? 20 : 34))} title="predicted, modelled and host clock" margin_left={110} />
          <Table id="clock" rows={clocks} noun="clock" height={150} columns={[
            { id: "clock", title: "clock", value: (c) => c.name }, { id: "seconds", title: "a step takes", value: (c) => c.seconds, text: seconds },
            { id: "ratio", title: "of the modelled time", value: (c) => (modelled ? c.seconds / modelled.seconds : NaN), text: (v) => (Number.isFinite(v) ? `${v.toPrecision(3)} x` : "–") }, { id: "of", title: "of", value: (c) => c.of },
          ]} />
          {report.predicted?.devices.length ? <pre class="soft">{report.predicted.text.trim()}</pre> : null}
        </>
      )}
    </>
  );
}
