import { Report } from "./report.ts";
import { Trace, trace_of } from "./trace.ts";

const traces_of = new WeakMap<Report, Trace[]>();
/** The traces of all streams, made once. */
export function all_traces(report: Report): Trace[] {
  let traces = traces_of.get(report);
  if (!traces) traces_of.set(report, (traces = report.streams.map((s) => trace_of(report, s))));
  return traces;
}
