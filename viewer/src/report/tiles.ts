// Numbers of each tile over all of the run.
import { Report } from "./report.ts";

const kept = new WeakMap<Report, Map<string, Float64Array>>();
function once(report: Report, key: string, make: () => Float64Array): Float64Array {
  const of = kept.get(report) ?? new Map<string, Float64Array>();
  kept.set(report, of);
  if (!of.has(key)) of.set(key, make());
  return of.get(key)!;
}

/** Cycles that each tile computes. */
export function tile_busy(report: Report): Float64Array {
  return once(report, "busy", () => {
    const out = new Float64Array(report.target.tiles), by_profile = new Map<number, number>(), by_stream = new Map<number, number>();
    for (const s of report.steps) {
      if (s.cycles.compute <= 0) continue;
      if (s.profile >= 0) by_profile.set(s.profile, (by_profile.get(s.profile) ?? 0) + s.executions);
      else by_stream.set(s.stream, (by_stream.get(s.stream) ?? 0) + s.cycles.compute);
    }
    for (const [profile, times] of by_profile) {
      const p = report.profile(profile);
      for (let k = 0; k < p.begin.length; ++k) for (let t = p.begin[k]!; t < Math.min(out.length, p.end[k]!); ++t) out[t]! += times * p.cycles[k]!;
    }
    for (const [stream, cycles] of by_stream) {
      const tiles = report.streams[stream]?.tiles ?? [];
      for (let k = 0; k < tiles.length; k += 2) for (let t = tiles[k]!; t < Math.min(out.length, tiles[k + 1]!); ++t) out[t]! += cycles;
    }
    return out;
  });
}

/** Cycles of the compute phases in which each tile has nothing to do. */
export function tile_idle(report: Report): Float64Array {
  return once(report, "idle", () => {
    const out = new Float64Array(report.target.tiles), busy = tile_busy(report);
    for (const s of report.streams) for (let k = 0; k < s.tiles.length; k += 2) for (let t = s.tiles[k]!; t < Math.min(out.length, s.tiles[k + 1]!); ++t) out[t] = Math.max(0, s.cycles.compute - busy[t]!);
    return out;
  });
}

/** How often each exchange is executed. */
export function exchange_times(report: Report): Float64Array {
  return once(report, "exchange times", () => {
    const out = new Float64Array(report.exchanges.length), seen = new Map<number, number>();
    // A step stands once for each stream that takes part.
    for (const s of report.steps) if (s.program >= 0) seen.set(s.program, Math.max(seen.get(s.program) ?? 0, s.executions));
    for (const [part, times] of seen) {
      const e = report.program[part]?.exchange ?? -1;
      if (e >= 0) out[e]! += times;
    }
    return out;
  });
}

/** Bytes that each tile sends and receives; of blocks of tiles the mean. */
export function tile_traffic(report: Report, sent: boolean): Float64Array {
  return once(report, sent ? "sent" : "received", () => {
    const out = new Float64Array(report.target.tiles), times = exchange_times(report);
    for (const e of report.exchanges) {
      const t = report.traffic(e.index), n = report.executed ? times[e.index]! : 1, who = sent ? t.from : t.to;
      for (let k = 0; k < who.length; ++k) {
        const begin = who[k]! * e.block, end = Math.min(out.length, begin + e.block);
        for (let tile = begin; tile < end; ++tile) out[tile]! += (n * t.bytes[k]!) / (end - begin);
      }
    }
    return out;
  });
}
