// What the IPUs of a program do together, from the streams' traces and the address maps.
import { series } from "../colours.ts";
import { draw_arrow } from "../pictures/arrows.ts";
import { Report } from "../report/report.ts";
import { Trace, TraceNode } from "../report/trace.ts";
import { Source } from "../widgets/picture.tsx";
import { Line } from "../widgets/plot.tsx";

interface Crossing {
  from: number;
  to: number;
}

/** By exchange: which IPU sends to which other one. */
function crossings(report: Report): Map<number, Crossing[]> {
  const out = new Map<number, Crossing[]>(), per = report.target.tiles_per_ipu;
  for (const e of report.exchanges) {
    const t = report.traffic(e.index), seen = new Set<number>();
    for (let k = 0; k < t.from.length; ++k) {
      const from = Math.floor((t.from[k]! * e.block) / per), to = Math.floor((t.to[k]! * e.block) / per);
      if (from !== to) seen.add(from * report.target.ipus + to);
    }
    if (seen.size > 0) out.set(e.index, [...seen].map((p) => ({ from: Math.floor(p / report.target.ipus), to: p % report.target.ipus })));
  }
  return out;
}

const kMostArrows = 300;

/** The lanes of the streams, with an arrow from sender to receiver where an exchange goes from one IPU to another. */
export function with_messages(report: Report, traces: Trace[], lanes: Source, shown: boolean): Source {
  const pairs = crossings(report), exchange_of = new Map(report.program.map((p) => [p.order, p.exchange]));
  const lane_of = (ipu: number) => report.streams.findIndex((s) => s.ipu === ipu && !s.io);
  if (!shown || pairs.size === 0) return lanes;
  return {
    ...lanes,
    over: (c, view, width, height) => {
      lanes.over?.(c, view, width, height);
      const row = height / (view.y1 - view.y0), sx = width / (view.x1 - view.x0), arrows: [number, number, number, number][] = [];
      traces.forEach((trace, lane) => {
        const stream = report.streams[lane]!;
        if (stream.io) return;
        trace.visit(view.x0, view.x1, 4 / sx, (e) => {
          const step = report.steps[e.step], exchange = step && exchange_of.get(step.order);
          for (const p of (exchange !== undefined && pairs.get(exchange)) || []) {
            if (p.from !== stream.ipu || lane_of(p.to) < 0) continue;
            arrows.push([(e.begin + e.gap - view.x0) * sx, (lane + 0.5 - view.y0) * row, (e.end - view.x0) * sx, (lane_of(p.to) + 0.5 - view.y0) * row]);
          }
          return arrows.length > kMostArrows;
        });
      });
      if (arrows.length <= kMostArrows) for (const a of arrows) draw_arrow(c, ...a);
    },
  };
}

const kBins = 1500;

/** Bytes in use of each stream's tiles: the most of each of so many equal times. */
export function memory_over_time(report: Report, traces: Trace[]): { x: Float64Array; lines: Line[] } {
  const length = Math.max(1, ...traces.map((t) => t.length)), x = Float64Array.from({ length: kBins }, (_, k) => (k * length) / kBins);
  const lines: Line[] = [];
  report.streams.forEach((stream, i) => {
    const l = report.liveness(stream), trace = traces[i]!;
    if (l.order.length === 0) return;
    const at = new Map([...l.order].map((o, k) => [o, stream.always_live + l.live[k]!])), values = new Float64Array(kBins), rounds = new Map<TraceNode, number>();
    const of_step = (step: number) => at.get(report.steps[step]?.order ?? -1) ?? 0;
    const of_round = (node: TraceNode): number => {
      if (!node.round) return of_step(node.step);
      let most = rounds.get(node);
      if (most === undefined) rounds.set(node, (most = node.round.nodes.reduce((m, n) => Math.max(m, of_round(n)), 0)));
      return most;
    };
    trace.visit(0, length, length / kBins / 4, (e) => {
      const bytes = e.step < 0 ? of_round(e.node) : of_step(e.step);
      for (let k = Math.floor((e.begin / length) * kBins), end = Math.min(kBins - 1, Math.floor((e.end / length) * kBins)); k <= end; ++k) values[k] = Math.max(values[k]!, bytes);
    });
    // Steps without memory of their own keep what was there.
    for (let k = 0; k < kBins; ++k) if (values[k] === 0) values[k] = k > 0 ? values[k - 1]! : stream.always_live;
    lines.push({ title: stream.name, colour: series(i), values });
  });
  return { x, lines };
}

/** Of a program that was not run: the fullest tile of each stream by step. */
export function memory_by_step(report: Report): Line[] {
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
}

export interface PlacedValue {
  name: string;
  bytes: Float64Array; // by IPU
  sum: number;
}

/** The variables of the program, with their bytes on each IPU. */
export function placed_values(report: Report): PlacedValue[] {
  const n = report.target.ipus, per = report.target.tiles_per_ipu;
  const all = report.variables.map((v): PlacedValue => ({ name: v.name, bytes: new Float64Array(n), sum: 0 }));
  for (let tile = 0; tile < report.tiles; ++tile)
    for (const a of report.allocations(tile)) {
      const v = all[a.variable];
      if (v) (v.bytes[Math.floor(tile / per)]! += a.size), (v.sum += a.size);
    }
  return all.filter((v, i) => v.sum > 0 && ["variable", "constant"].includes(report.category_name(report.variables[i]!.category)));
}

/** "0, 2 to 4" */
export function ipu_text(bytes: ArrayLike<number>): string {
  const on = Array.from(bytes).flatMap((b, i) => (b > 0 ? [i] : [])), parts: string[] = [];
  for (let i = 0; i < on.length; ) {
    let j = i;
    while (j + 1 < on.length && on[j + 1] === on[j]! + 1) ++j;
    parts.push(j > i ? `${on[i]}${j > i + 1 ? " to " : ", "}${on[j]}` : `${on[i]}`);
    i = j + 1;
  }
  return parts.join(", ");
}
