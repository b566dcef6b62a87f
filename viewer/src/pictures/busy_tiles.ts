// Tile by time: how much of it each tile computes, and what the rest is. Drawn in chunks of columns by level of detail; a chunk that is dear is made
// over several frames, and a coarser one stands in for it meanwhile.
import { kKinds, rgb, Rgb } from "../colours.ts";
import { count, percent } from "../format.ts";
import { kTerms, Report, Step } from "../report/report.ts";
import { kCompute, term_shares, Trace, walk_terms } from "../report/trace.ts";
import { Box, Chunk } from "../widgets/painter.ts";
import { Source } from "../widgets/picture.tsx";
import { describe_event } from "./lanes.ts";

const kColumns = 128, kRows = 512;
// ms of a frame: while the view moves, and while it stands.
const kMovingBudget = 4, kStandingBudget = 30;
const kKept = 160;

/** How often each step is executed whole in a time, and the parts of steps at its ends. */
class Counts {
  readonly whole = new Map<number, number>();
  readonly parts: { step: number; cycles: number; from: number; to: number; times: number }[] = [];
  add(step: number, times: number) {
    this.whole.set(step, (this.whole.get(step) ?? 0) + times);
  }
  collect_all(trace: Trace, times: number) {
    for (const n of trace.nodes) {
      if (n.round) this.collect_all(n.round, times * n.times);
      else this.add(n.step, times * n.times);
    }
  }
  collect(trace: Trace, from: number, to: number) {
    from = Math.max(0, from), to = Math.min(trace.length, to);
    for (let i = trace.find(from); i < trace.nodes.length && trace.begin[i]! < to; ++i) {
      const n = trace.nodes[i]!;
      if (n.each <= 0) continue;
      const a = from - trace.begin[i]!, b = to - trace.begin[i]!;
      const first = Math.max(0, Math.ceil(a / n.each)), last = Math.min(n.times, Math.floor(b / n.each));
      if (last > first) {
        if (n.round) this.collect_all(n.round, last - first);
        else this.add(n.step, last - first);
      }
      const part = (k: number) => {
        if (k < 0 || k >= n.times) return;
        const f = Math.max(0, a - k * n.each), t = Math.min(n.each, b - k * n.each);
        if (t <= f) return;
        if (n.round) this.collect(n.round, f, t);
        else this.parts.push({ step: n.step, cycles: n.cycles, from: f - n.gap, to: t - n.gap, times: 1 });
      };
      if (first - 1 >= 0 && first > a / n.each) part(first - 1);
      if (last >= first && last < n.times) part(last);
    }
  }
}

interface Job {
  key: string;
  box: Box;
  rgba: Uint8ClampedArray;
  column: number;
  rows: number;
}

export function busy_tiles_source(report: Report, traces: Trace[], idle: Rgb): Source {
  const length = Math.max(1, ...traces.map((t) => t.length)), tiles = Math.max(1, report.target.tiles);
  const done = new Map<string, Chunk>();
  let job: Job | undefined, before = "", moved_at = 0;
  const colours = kTerms.map((t) => rgb(kKinds[t]!));
  const shares: (Float64Array | undefined)[] = [];
  const shares_of = (step: number) => (shares[step] ??= term_shares(report.steps[step]));
  const stream_of_tile = new Int16Array(tiles).fill(-1);
  report.streams.forEach((s) => {
    for (let k = 0; k < s.tiles.length; k += 2) stream_of_tile.fill(s.index, s.tiles[k]!, s.tiles[k + 1]!);
  });
  if (report.streams.length === 1 && report.streams[0]!.tiles.length === 0) stream_of_tile.fill(0);

  // Calls for each range of the tiles of a stream that computes in a step.
  const ranges = (step: Step, call: (begin: number, end: number, cycles: number) => void) => {
    if (step.cycles.compute <= 0) return;
    if (step.profile >= 0) {
      const p = report.profile(step.profile);
      for (let k = 0; k < p.begin.length; ++k) call(p.begin[k]!, p.end[k]!, p.cycles[k]!);
    } else {
      const s = report.streams[step.stream]!, each = step.cycles.compute / Math.max(1, step.executions);
      if (s.tiles.length === 0) call(0, tiles, each);
      for (let k = 0; k < s.tiles.length; k += 2) call(s.tiles[k]!, s.tiles[k + 1]!, each);
    }
  };

  const column_of = (from: number, to: number, y0: number, per_row: number, rows: number, busy: Float64Array) => {
    const y1 = y0 + rows * per_row;
    const spread = (begin: number, end: number, cycles: number) => {
      begin = Math.max(begin, y0), end = Math.min(end, y1);
      for (let t = begin; t < end; ) {
        const row = Math.floor((t - y0) / per_row), stop = Math.min(end, y0 + (row + 1) * per_row);
        busy[row]! += cycles * (stop - t);
        t = stop;
      }
    };
    traces.forEach((trace) => {
      const counts = new Counts();
      counts.collect(trace, from, to);
      for (const [s, times] of counts.whole) {
        const step = report.steps[s];
        if (step) ranges(step, (b, e, cycles) => spread(b, e, cycles * times));
      }
      for (const p of counts.parts) {
        const step = report.steps[p.step];
        if (!step || p.to <= 0) continue;
        walk_terms(shares_of(p.step), p.cycles, (t, begin, end) => {
          if (t !== kCompute || p.to <= begin || p.from >= end) return;
          // What is reported of an average execution, stretched to this one.
          const average = step.cycles.compute / Math.max(1, step.executions), stretch = average > 0 ? (end - begin) / average : 0;
          ranges(step, (b, e, cycles) => spread(b, e, Math.max(0, Math.min(p.to, begin + Math.min(end - begin, cycles * stretch)) - Math.max(p.from, begin))));
        });
      }
    });
  };

  const fill = (j: Job) => {
    const { box } = j, per_row = (box.y1 - box.y0) / kRows, each = (box.x1 - box.x0) / kColumns, x = j.column++;
    const from = box.x0 + x * each, to = from + each;
    if (from >= length) return;
    const busy = new Float64Array(j.rows), terms = traces.map((trace) => {
      const sums = new Float64Array(kTerms.length);
      trace.add(sums, from, to);
      return sums;
    });
    column_of(from, to, box.y0, per_row, j.rows, busy);
    for (let r = 0; r < j.rows; ++r) {
      const tile = box.y0 + r * per_row, many = Math.min(per_row, tiles - tile), s = stream_of_tile[tile] ?? -1;
      const at = 4 * (r * kColumns + x);
      const share = Math.min(1, busy[r]! / (each * many));
      let red = colours[kCompute]![0] * share, green = colours[kCompute]![1] * share, blue = colours[kCompute]![2] * share, rest = 1 - share;
      if (s >= 0)
        for (let t = 0; t < kTerms.length - 1; ++t) {
          if (t === kCompute) continue;
          const f = Math.min(rest, terms[s]![t]! / each);
          (red += colours[t]![0] * f), (green += colours[t]![1] * f), (blue += colours[t]![2] * f), (rest -= f);
        }
      j.rgba[at] = red + idle[0] * rest;
      j.rgba[at + 1] = green + idle[1] * rest;
      j.rgba[at + 2] = blue + idle[2] * rest;
      j.rgba[at + 3] = 255;
    }
  };

  const source: Source = {
    bounds: { x0: 0, x1: length, y0: 0, y1: tiles },
    finest: { x: Math.min(length, 20), y: Math.min(tiles, 8) },
    x_title: "cycles",
    x_label: (x) => count(x),
    y_label: (y) => String(y),
    chunks: (view, width, height, later) => {
      const level = Math.max(-3, Math.ceil(Math.log2((view.x1 - view.x0) / width)));
      const each = 2 ** level * kColumns, level_y = Math.max(0, Math.ceil(Math.log2((view.y1 - view.y0) / height))), tall = 2 ** level_y * kRows;
      const now = performance.now(), here = `${view.x0} ${view.x1} ${view.y0} ${view.y1}`;
      if (here !== before) (before = here), (moved_at = now);
      const deadline = now + (now - moved_at > 150 ? kStandingBudget : kMovingBudget), out: Chunk[] = [], wanted: { key: string; box: Box }[] = [];
      for (let ix = Math.floor(view.x0 / each); ix * each < Math.min(view.x1, length); ++ix)
        for (let iy = Math.floor(view.y0 / tall); iy * tall < Math.min(view.y1, tiles); ++iy)
          wanted.push({ key: `${level} ${ix} ${level_y} ${iy}`, box: { x0: ix * each, x1: (ix + 1) * each, y0: iy * tall, y1: (iy + 1) * tall } });
      let missing = false;
      for (const w of wanted) {
        let chunk = done.get(w.key);
        if (!chunk && performance.now() < deadline) {
          if (job?.key !== w.key) {
            const rows = Math.min(kRows, Math.ceil((tiles - w.box.y0) / (tall / kRows)));
            job = { ...w, rgba: new Uint8ClampedArray(4 * kColumns * rows), column: 0, rows };
          }
          while (job.column < kColumns && performance.now() < deadline) fill(job);
          if (job.column === kColumns) {
            const y1 = w.box.y0 + job.rows * (tall / kRows);
            chunk = { key: w.key, ...w.box, y1, pixels: { width: kColumns, height: job.rows, rgba: job.rgba } };
            done.set(w.key, chunk);
            if (done.size > kKept) done.delete(done.keys().next().value!);
            job = undefined;
          }
        }
        if (chunk) out.push(chunk);
        else missing = true;
      }
      if (missing) {
        later();
        // What was made before at other levels, the coarsest first, under what is there.
        const stand_in = [...done.values()].filter((k) => k.x1 > view.x0 && k.x0 < view.x1 && !out.includes(k)).sort((a, b) => b.x1 - b.x0 - (a.x1 - a.x0));
        // What there is of the one that is being made.
        const part = job && job.column > 0 ? [{ key: job.key, ...job.box, y1: job.box.y0 + job.rows * (tall / kRows), pixels: { width: kColumns, height: job.rows, rgba: job.rgba }, partial: true }] : [];
        return [...stand_in.slice(0, 40), ...out, ...part];
      }
      return out;
    },
    at: (x, y) => {
      const tile = Math.floor(y), s = stream_of_tile[tile] ?? -1, e = s >= 0 ? traces[s]?.at(x) : undefined;
      if (tile < 0 || tile >= tiles) return undefined;
      if (!e) return `tile ${tile}`;
      const step = report.steps[e.step];
      let own = "";
      if (step && step.cycles.compute > 0) {
        let cycles = 0;
        ranges(step, (b, end, c) => { if (tile >= b && tile < end) cycles = c; });
        const whole = step.cycles.compute / Math.max(1, step.executions);
        own = `\nthis tile computes ${count(cycles)} cycles, ${percent(cycles / whole)} of the slowest`;
      }
      return `tile ${tile}: ${describe_event(report, e)}${own}`;
    },
    next: (x, y, d) => {
      const trace = traces[stream_of_tile[Math.floor(y)] ?? -1];
      const here = trace?.at(x);
      if (!trace) return x;
      const to = d > 0 ? trace.at(here ? here.end + 1e-6 : x + 1) : trace.at(Math.max(0, (here ? here.begin : x) - 0.5));
      return to ? (to.begin + to.gap + to.end) / 2 : x;
    },
  };
  return source;
}
