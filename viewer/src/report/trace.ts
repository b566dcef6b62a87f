// What a stream executed, folded as it is in the report: events, and loops whose round stands once. Sums over any time need no unfolding.
import { kTerms, Report, Step, Stream } from "./report.ts";

export interface TraceNode {
  /** −1 of a loop. */
  step: number;
  gap: number;
  cycles: number; // of one time, without the gap
  times: number;
  each: number; // gap + cycles
  round: Trace | undefined; // of a loop
}

/** Nodes one after the other, with where each begins. */
export class Trace {
  readonly begin: Float64Array; // one more than nodes: the end
  /** Rows of the report that are not here: a page would have no room for them. */
  left_out = 0;
  private events_: number | undefined;
  private pyramid: Float64Array[] | undefined;

  constructor(readonly nodes: TraceNode[], private readonly terms_of: (step: number) => Float64Array) {
    this.begin = new Float64Array(nodes.length + 1);
    nodes.forEach((n, i) => (this.begin[i + 1] = this.begin[i]! + n.each * n.times));
  }
  get length(): number {
    return this.begin[this.nodes.length]!;
  }
  /** Executed steps, unfolded. */
  get events(): number {
    return (this.events_ ??= this.nodes.reduce((sum, n) => sum + n.times * (n.round ? n.round.events : 1), 0));
  }
  /** Which node stands at a time; those of no length are passed over. */
  find(time: number): number {
    let low = 0, high = this.nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[middle + 1]! <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private node_terms(n: TraceNode): Float64Array {
    const out = new Float64Array(kTerms.length);
    if (n.round) n.round.add_all(out, n.times);
    else {
      const terms = this.terms_of(n.step);
      for (let t = 0; t < out.length; ++t) out[t] = terms[t]! * n.cycles * n.times;
      out[kTerms.length - 1]! += n.gap * n.times;
    }
    return out;
  }
  private sums(): Float64Array[] {
    if (!this.pyramid) {
      this.pyramid = kTerms.map(() => new Float64Array(this.nodes.length + 1));
      this.nodes.forEach((n, i) => {
        const terms = this.node_terms(n);
        for (let t = 0; t < terms.length; ++t) this.pyramid![t]![i + 1] = this.pyramid![t]![i]! + terms[t]!;
      });
    }
    return this.pyramid;
  }
  add_all(out: Float64Array, times: number) {
    const s = this.sums();
    for (let t = 0; t < out.length; ++t) out[t]! += times * s[t]![this.nodes.length]!;
  }
  /** Adds the cycles of each term in [from, to). */
  add(out: Float64Array, from: number, to: number) {
    from = Math.max(0, from), to = Math.min(this.length, to);
    if (from >= to) return;
    const first = this.find(from), last = Math.min(this.nodes.length - 1, this.find(to));
    if (first === last) return this.add_part(out, first, from - this.begin[first]!, to - this.begin[first]!);
    this.add_part(out, first, from - this.begin[first]!, Infinity);
    const s = this.sums();
    for (let t = 0; t < out.length; ++t) out[t]! += s[t]![last]! - s[t]![first + 1]!;
    if (last < this.nodes.length && to > this.begin[last]!) this.add_part(out, last, 0, to - this.begin[last]!);
  }
  private add_part(out: Float64Array, i: number, from: number, to: number) {
    const n = this.nodes[i];
    if (!n || n.each <= 0) return;
    to = Math.min(to, n.each * n.times);
    const first = Math.floor(from / n.each), last = Math.min(n.times - 1, Math.floor(to / n.each));
    const one = (k: number) => {
      const a = Math.max(0, from - k * n.each), b = Math.min(n.each, to - k * n.each);
      if (b <= a) return;
      if (n.round) return n.round.add(out, a, b);
      const waits = Math.max(0, Math.min(b, n.gap) - a);
      out[kTerms.length - 1]! += waits;
      walk_terms(this.terms_of(n.step), n.cycles, (t, begin, end) => (out[t]! += Math.max(0, Math.min(b - n.gap, end) - Math.max(a - n.gap, begin))));
    };
    one(first);
    if (last > first) {
      const whole = last - first - 1;
      if (whole > 0) {
        const terms = this.node_terms(n);
        for (let t = 0; t < out.length; ++t) out[t]! += (terms[t]! * whole) / n.times;
      }
      one(last);
    }
  }

  /** Calls for each time a step is executed in [from, to), in order; stops when `visit` says so. A round shorter than `least` comes as one event (step −1). */
  visit(from: number, to: number, least: number, visit: (e: TraceEvent) => boolean | void, at = 0): boolean {
    for (let i = this.find(from - at); i < this.nodes.length && at + this.begin[i]! < to; ++i) {
      const n = this.nodes[i]!, begin = at + this.begin[i]!;
      if (n.each * n.times < least || n.each <= 0) {
        if (visit({ step: n.round ? -1 : n.step, begin, end: begin + n.each * n.times, gap: n.round ? 0 : n.gap, times: n.times, node: n }) === true) return true;
        continue;
      }
      const first = Math.max(0, Math.floor((from - begin) / n.each));
      if (n.each < least) {
        const group = Math.max(1, Math.ceil(least / n.each));
        for (let k = first; k < n.times && begin + k * n.each < to; k += group) {
          const times = Math.min(group, n.times - k);
          if (visit({ step: n.round ? -1 : n.step, begin: begin + k * n.each, end: begin + (k + times) * n.each, gap: n.round ? 0 : n.gap, times, node: n }) === true) return true;
        }
        continue;
      }
      for (let k = first; k < n.times && begin + k * n.each < to; ++k) {
        const t = begin + k * n.each;
        if (n.round) {
          if (n.round.visit(from, to, least, visit, t)) return true;
        } else if (visit({ step: n.step, begin: t, end: t + n.each, gap: n.gap, times: 1, node: n }) === true) return true;
      }
    }
    return false;
  }
  /** The event at a time. */
  at(time: number): TraceEvent | undefined {
    let found: TraceEvent | undefined;
    this.visit(time, time + 1e-9, 0, (e) => {
      if (e.end > time) found = e;
      return true;
    });
    return found;
  }
  /** When a step is executed for the first time at or after a time; undefined: never again. */
  next_of(matches: (step: number) => boolean, from: number): TraceEvent | undefined {
    return this.search(matches, from, 0);
  }
  private search(matches: (step: number) => boolean, from: number, at: number): TraceEvent | undefined {
    for (let i = this.find(from - at); i < this.nodes.length; ++i) {
      const n = this.nodes[i]!, begin = at + this.begin[i]!;
      if (!n.round) {
        if (!matches(n.step)) continue;
        const k = Math.max(0, Math.ceil((from - begin) / Math.max(1e-9, n.each)));
        if (k < n.times) return { step: n.step, begin: begin + k * n.each, end: begin + (k + 1) * n.each, gap: n.gap, times: 1, node: n };
        continue;
      }
      if (!n.round.has(matches)) continue;
      for (let k = Math.max(0, Math.floor((from - begin) / n.each)); k < n.times; ++k) {
        const found = n.round.search(matches, from, begin + k * n.each);
        if (found) return found;
      }
    }
    return undefined;
  }
  private has(matches: (step: number) => boolean): boolean {
    return this.nodes.some((n) => (n.round ? n.round.has(matches) : matches(n.step)));
  }
}

export interface TraceEvent {
  step: number;
  begin: number; // the gap included
  end: number;
  gap: number;
  times: number;
  node: TraceNode;
}

// In which order the terms of a superstep stand in time.
const kOrder = ["sync", "host", "global_exchange", "exchange", "local_copy", "compute"].map((t) => kTerms.indexOf(t as (typeof kTerms)[number]));
export const kCompute = kTerms.indexOf("compute");

/** The parts of an event of so many cycles, by term, as they follow one another. */
export function walk_terms(shares: Float64Array, cycles: number, part: (term: number, begin: number, end: number) => void) {
  let at = 0;
  for (const t of kOrder) {
    const long = shares[t]! * cycles;
    if (long > 0) part(t, at, at + long);
    at += long;
  }
}

/** Shares of the terms in a step's cycles, without its waits (which are gaps). */
export function term_shares(step: Step | undefined): Float64Array {
  const out = new Float64Array(kTerms.length);
  if (!step) return out;
  const all = step.total - step.cycles.wait;
  if (all > 0) kTerms.forEach((t, k) => (out[k] = t === "wait" ? 0 : step.cycles[t] / all));
  else out[kTerms.indexOf("sync")] = 1;
  return out;
}

// Rows of all traces that a page keeps as nodes.
const kMostRows = 2_000_000;

/** What a stream executed; of a longer trace the first rows (Trace.left_out). */
export function trace_of(report: Report, stream: Stream): Trace {
  const c = report.container, b = stream.trace[0], e = Math.min(stream.trace[1], b + Math.floor(kMostRows / Math.max(1, report.streams.length)));
  const [step, gap, cycles, times, rows] = ["step", "gap", "cycles", "times", "rows"].map((n) => c.slice("trace", n, b, e)) as Float64Array[];
  const shares: (Float64Array | undefined)[] = [], steps = report.steps;
  const terms_of = (s: number) => (shares[s] ??= term_shares(steps[s]));
  const read = (from: number, to: number, depth: number): Trace => {
    const nodes: TraceNode[] = [];
    for (let i = from; i < to; ++i) {
      const n = rows![i]!;
      if (n > 0 && depth < 1000) {
        const round = read(i + 1, Math.min(to, i + 1 + n), depth + 1);
        nodes.push({ step: -1, gap: 0, cycles: round.length, times: times![i]!, each: round.length, round });
      } else nodes.push({ step: step![i]!, gap: gap![i]!, cycles: cycles![i]!, times: times![i]!, each: cycles![i]! + gap![i]!, round: undefined });
      i += n;
    }
    return new Trace(nodes, terms_of);
  };
  const trace = read(0, e - b, 0);
  trace.left_out = stream.trace[1] - e;
  return trace;
}
