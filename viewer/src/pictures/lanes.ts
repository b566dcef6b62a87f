// One lane for each stream: the terms of each step one after the other, with names where there is room for them.
import { ink, kKinds, kKindTitles } from "../colours.ts";
import { count, percent, seconds } from "../format.ts";
import { kTerms, Report } from "../report/report.ts";
import { term_shares, Trace, TraceEvent, walk_terms } from "../report/trace.ts";
import { Box } from "../widgets/painter.ts";
import { Source } from "../widgets/picture.tsx";

const kColours = kTerms.map((t) => kKinds[t]!);

export function describe_event(report: Report, e: TraceEvent): string {
  const step = report.steps[e.step];
  if (e.step < 0 || !step) return `a loop's rounds: ${count(e.end - e.begin)} cycles`;
  const lines = [`${step.name || step.kind}`, `${step.kind}, ${count(e.node.cycles)} cycles${Number.isFinite(report.seconds(1)) ? ` (${seconds(report.seconds(e.node.cycles))})` : ""}${e.node.times > 1 ? `, ${count(e.node.times)} times in a row` : ""}`];
  const shares = term_shares(step);
  lines.push(kTerms.map((t, k) => ({ t, s: shares[k]! })).filter((x) => x.s > 0.0005).sort((a, b) => b.s - a.s).map((x) => `${kKindTitles[x.t]} ${percent(x.s)}`).join(", "));
  if (e.gap > 0) lines.push(`waits ${count(e.gap)} cycles before it`);
  const at = report.program[step.program]?.source;
  if (at) lines.push(`made at ${at.file}:${at.line}`);
  if (step.slowest_codelet >= 0) lines.push(`slowest: tile ${step.slowest_tile}, ${report.codelets[step.slowest_codelet]?.name ?? "?"}, ${count(step.slowest_cycles)} cycles`);
  return lines.filter(Boolean).join("\n");
}

export function lanes_source(report: Report, traces: Trace[]): Source {
  const length = Math.max(1, ...traces.map((t) => t.length));
  const names = report.streams.map((s) => s.name);
  const draw_sums = (c: CanvasRenderingContext2D, trace: Trace, view: Box, width: number, top: number, tall: number) => {
    const sums = new Float64Array(kTerms.length), each = (view.x1 - view.x0) / width;
    for (let px = 0; px < width; ++px) {
      sums.fill(0);
      trace.add(sums, view.x0 + px * each, view.x0 + (px + 1) * each);
      let y = top + tall;
      for (let t = 0; t < sums.length; ++t) {
        const h = (sums[t]! / each) * tall;
        if (h < 0.1) continue;
        c.fillStyle = kColours[t]!;
        c.fillRect(px, y - h, 1.1, h);
        y -= h;
      }
    }
  };
  const draw_events = (c: CanvasRenderingContext2D, trace: Trace, view: Box, width: number, top: number, tall: number) => {
    const sx = width / (view.x1 - view.x0);
    trace.visit(view.x0, view.x1, 0, (e) => {
      const step = report.steps[e.step], from = e.begin + e.gap;
      if (e.gap > 0) {
        c.fillStyle = kKinds["wait"]!;
        c.globalAlpha = 0.45;
        c.fillRect((e.begin - view.x0) * sx, top, e.gap * sx, tall);
        c.globalAlpha = 1;
      }
      let widest = 0, label_from = 0, label_to = 0, colour = "#9a9a9a";
      walk_terms(term_shares(step), e.end - from, (t, a, b) => {
        const x = (from + a - view.x0) * sx, w = (b - a) * sx;
        c.fillStyle = kColours[t]!;
        c.fillRect(x, top, Math.max(0.5, w), tall);
        const l = Math.max(0, x), r = Math.min(width, x + w);
        if (r - l > widest) (widest = r - l), (label_from = l), (label_to = r), (colour = kColours[t]!);
      });
      const x0 = (e.begin - view.x0) * sx;
      c.fillStyle = "#0006";
      if ((e.end - e.begin) * sx > 3) c.fillRect(x0, top, 1, tall);
      if (widest > 30 && step) {
        c.fillStyle = ink(colour);
        let text = step.name || step.kind;
        while (text.length > 2 && c.measureText(text).width > label_to - label_from - 8) text = text.slice(0, Math.max(2, Math.floor(text.length * 0.85)) - 1) + "…";
        if (c.measureText(text).width <= label_to - label_from - 8) c.fillText(text, label_from + 4, top + tall / 2);
      }
    });
  };
  return {
    bounds: { x0: 0, x1: length, y0: 0, y1: Math.max(1, traces.length) },
    finest: { x: Math.min(length, 20), y: Math.max(1, traces.length) },
    x_title: "cycles",
    x_label: (x) => count(x),
    y_label: (y) => names[y] ?? "",
    chunks: () => [],
    over: (c, view, width, height) => {
      const row = height / (view.y1 - view.y0);
      c.font = "12px sans-serif";
      c.textBaseline = "middle";
      traces.forEach((trace, i) => {
        const top = (i - view.y0) * row + 1, tall = row - 2;
        if (top > height || top + tall < 0 || trace.nodes.length === 0) return;
        let many = 0;
        trace.visit(view.x0, view.x1, 0, () => ++many > width * 0.7);
        if (many > width * 0.7) draw_sums(c, trace, view, Math.ceil(width), top, tall);
        else draw_events(c, trace, view, width, top, tall);
      });
    },
    at: (x, y) => {
      const trace = traces[Math.floor(y)], e = trace?.at(x);
      return trace && `${names[Math.floor(y)]}\n${e ? describe_event(report, e) : "nothing"}`;
    },
    next: (x, y, d) => {
      const trace = traces[Math.floor(y)];
      if (!trace) return x;
      const here = trace.at(x);
      const after = () => trace.at(here ? here.end + 1e-6 : x + 1), before = () => trace.at(Math.max(0, (here ? here.begin : Math.min(x, trace.length)) - 0.5));
      // Where nothing follows, a cross that stands beside everything goes to what is last.
      const to = (d > 0 ? after() : before()) ?? (here ? undefined : d > 0 ? before() : after());
      return to ? (to.begin + to.gap + to.end) / 2 : x;
    },
  };
}
