// What the views read: a report as things with names. It takes them from the container when they are asked for, once.
import { count } from "../format.ts";
import { checked_facts, checked_list } from "./checks.ts";
import { TooLongError } from "./container.ts";
import { Tables } from "./json_report.ts";
import { Plan, plan_of } from "./plan.ts";
import { steps_of } from "./steps.ts";

export interface Target {
  name: string;
  ipus: number;
  tiles_per_ipu: number;
  tiles: number;
  workers: number;
  replicas: number;
  bytes_per_tile: number; // 0: unbounded
  clock_hz: number;
  /** Of a tile, at most; files of earlier versions lack them. */
  flops_per_cycle_f32?: number;
  flops_per_cycle_f16?: number;
  load_bytes_per_cycle?: number;
}
export const kTerms = ["compute", "exchange", "local_copy", "global_exchange", "sync", "host", "wait"] as const;
export type Term = (typeof kTerms)[number];
export type Cycles = Readonly<Record<Term, number>>;

export interface Category {
  name: string;
  estimated: boolean;
  bytes: number;
  meaning: string;
  reduce: string;
}
export interface Place {
  file: string;
  line: number;
}
export interface LiveSteps {
  order: Float64Array;
  live: Float64Array;
  worst: Float64Array;
  worst_tile: Float64Array;
  name(i: number): string;
}
export interface Stream {
  index: number;
  name: string;
  ipu: number;
  io: boolean;
  /** begin, end, begin, end … */
  tiles: number[];
  always_live: number;
  cycles: Cycles;
  finish: number;
  /** Rows of the table liveness, and of trace. */
  liveness: [number, number];
  trace: [number, number];
}
/** What has memory: a variable, or a kind of code, buffer or stack. */
export interface Variable {
  index: number;
  name: string;
  category: number;
  bytes: number;
  tiles: number;
  largest: number;
  always: number;
  first: number;
  last: number;
  source: Place | undefined;
}
export interface Allocation {
  tile: number;
  offset: number;
  size: number;
  variable: number;
  /** 0: always; else live_sets row + 1. */
  live: number;
  estimated: boolean;
}
export interface ProgramPart {
  index: number;
  order: number;
  name: string;
  kind: string;
  inside: number; // -1: none
  compute_set: number; // -1: none
  exchange: number; // -1: none
  source: Place | undefined;
  /** All its lines: of copies that are one exchange several. */
  sources: Place[];
}
export interface ComputeSet {
  index: number;
  name: string;
  vertices: number;
  flops: number;
  source: Place | undefined;
  groups: { codelet: number; begin: number; end: number; count: number }[];
}
export interface Codelet {
  index: number;
  name: string;
  vertices: number;
  executions: number;
  cycles: number;
  estimated: boolean;
  /** Where the cycles come from; "" in files of earlier versions. */
  source: string;
  defined: Place | undefined;
  /** Of all executions; 0 in files of earlier versions. */
  flops: number;
  operand_bytes: number;
}
/** What one operation costs: a name, or the first ones of a debug path. */
export interface Operation {
  name: string;
  cycles: number;
  compute: number;
  exchange: number;
  steps: number;
  executions: number;
  flops: number;
  bytes: number;
  sources: Place[];
}
/** A line of a codelet's source. */
export interface CodeletLine extends Place {
  cycles: number;
  text: string;
}
export interface Buffer {
  compute_set: number;
  codelet: number;
  field: string;
  variable: string;
  tiles: number;
  buffers: number;
  pieces: number;
  bytes: number;
  remote: number;
}
export interface Exchange {
  index: number;
  name: string;
  bytes: number;
  senders: number;
  receivers: number;
  busiest_tile: number;
  busiest_bytes: number;
  local: number;
  copies: number;
  block: number;
}
export interface Traffic {
  from: ArrayLike<number>;
  to: ArrayLike<number>;
  bytes: ArrayLike<number>;
  messages: ArrayLike<number>;
}
/** What one stream does in one step of the program, over all executions. */
export interface Step {
  readonly index: number;
  readonly stream: number;
  readonly name: string;
  readonly kind: string;
  readonly order: number;
  readonly program: number; // -1: none
  readonly executions: number;
  readonly cycles: Cycles;
  readonly total: number;
  readonly vertices: number;
  readonly unestimated: number;
  readonly exchanged: number;
  readonly balance: number;
  readonly flops: number;
  readonly slowest_tile: number;
  readonly slowest_codelet: number; // -1: none
  readonly slowest_cycles: number;
  readonly used_workers: number;
  readonly profile: number; // -1: all tiles of the stream have the cycles of the terms
}
/** begin, end, cycles of each tile at one execution. */
export interface TileProfile {
  exact: boolean;
  begin: ArrayLike<number>;
  end: ArrayLike<number>;
  cycles: ArrayLike<number>;
}
export interface Evidence {
  text: string;
  links: { view: string; params: Record<string, string>; title: string }[];
}
export interface Advice {
  rule: string;
  title: string;
  text: string;
  /** Share of the cycles or of the memory, 0 to 1. */
  cost: number;
  unit: string;
  evidence: Evidence[];
}
export interface Run {
  program: number;
  begin: number;
  end: number;
  host_ns: number;
}
export interface Block {
  name: string;
  stream: number;
  stream_copy: boolean;
  begin: number;
  end: number;
}

export function total(c: Cycles): number {
  return kTerms.reduce((sum, t) => sum + c[t], 0);
}

// More rows than these would take more memory than a browser gives a page. Of a trace the first ones are shown, so it may have any number.
const kMostRows = 3_000_000;
const kLongTables = ["steps", "program", "liveness", "variables", "compute_sets", "vertex_groups", "buffers", "exchanges", "blocks", "runs"];

export class Report {
  private readonly kept = new Map<string, unknown>();
  readonly target: Target;
  readonly graph: Record<string, number>;
  readonly out_of_memory: string;
  readonly executed: boolean;
  readonly runs: number;
  readonly total_cycles: number;
  readonly events_lost: number;
  /** The document `report`, with whatever else is in it. */
  readonly facts: Record<string, any>;
  /** Of a search or a simulated step, which have no tiles. */
  readonly plan: Plan | undefined;
  /** Of a run: what was predicted of a step. Without devices its text says why there is nothing. */
  readonly predicted: Plan | undefined;

  /** How the tiles of an IPU lie, where the machine says it. */
  fabric: { columns: number; rows: number; lanes: number } | undefined;

  constructor(readonly file: string, readonly container: Tables) {
    const facts = checked_facts(container.document("report"));
    this.facts = facts;
    this.target = facts["target"];
    this.graph = facts["graph"] ?? {};
    this.out_of_memory = facts["out_of_memory"] ?? "";
    this.executed = facts["executed"] === true;
    this.runs = facts["runs"] ?? 0;
    this.total_cycles = facts["total_cycles"] ?? 0;
    this.events_lost = facts["events_lost"] ?? 0;
    this.plan = plan_of(container.document("plan"));
    this.predicted = plan_of(container.document("predicted"));
    for (const table of kLongTables)
      if (container.rows(table) > kMostRows)
        throw new TooLongError(`The report has ${count(container.rows(table))} rows of '${table}', and a page shows up to ${count(kMostRows)}. 'pando report FILE --ask QUESTION' answers from all of them.`);
  }

  private once<T>(key: string, make: () => T): T {
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key) as T;
  }
  /** Rows of a table as objects: column name to value; texts are texts, maybe-rows lose their 1. */
  private rows_of<T>(table: string, columns: Record<string, string>, also: (row: any, i: number) => void = () => {}): T[] {
    const c = this.container, rows: any[] = [];
    for (let i = 0, n = c.rows(table); i < n; ++i) rows.push({ index: i });
    for (const [to, from] of Object.entries(columns)) {
      const values = c.column(table, from), holds = c.tables.get(table)?.columns.get(from)?.holds;
      if (holds === "text") for (let i = 0; i < rows.length; ++i) rows[i][to] = c.text(values[i]!);
      else for (let i = 0, less = holds === "maybe_row" ? 1 : 0; i < rows.length; ++i) rows[i][to] = values[i]! - less;
    }
    rows.forEach(also);
    return rows;
  }
  /** Rows of another table that belong to row i. */
  private span(table: string, column: string, i: number): [number, number] {
    const ends = this.container.column(table, column);
    return [i > 0 ? ends[i - 1]! : 0, ends[i] ?? 0];
  }
  private has(table: string, column: string): boolean {
    return this.container.tables.get(table)?.columns.has(column) ?? false;
  }
  private place(row: number): Place | undefined {
    if (row < 0) return undefined;
    const c = this.container;
    return { file: c.text(c.column("sources", "file")[row]!), line: c.column("sources", "line")[row]! };
  }

  target_line(): string {
    const t = this.target;
    if (this.plan) return this.plan.title;
    return `${t.name}, ${t.ipus} IPU${t.ipus === 1 ? "" : "s"}, ${t.tiles.toLocaleString("en-GB").replaceAll(",", " ")} tile${t.tiles === 1 ? "" : "s"}` + (t.replicas > 1 ? `, ${t.replicas} replicas` : "");
  }
  seconds(cycles: number): number {
    return this.target.clock_hz > 0 ? cycles / this.target.clock_hz : NaN;
  }

  get categories(): Category[] {
    return this.once("categories", () => {
      return checked_list(this.container.document("categories"), "categories", { category: "text" }, { bytes: "number", meaning: "text", reduce: "text" })
        .map((c): Category => ({ name: c.category, estimated: c.estimated === true, bytes: c.bytes ?? 0, meaning: c.meaning ?? "", reduce: c.reduce ?? "" }));
    });
  }
  get advice(): Advice[] {
    return this.once("advice", () => {
      return checked_list(this.container.document("advice"), "advice", { rule: "text" }, { title: "text", text: "text", cost: "number", unit: "text" }).map((a) => ({
        rule: a.rule, title: a.title ?? a.rule, text: a.text ?? "", cost: a.cost ?? 0, unit: a.unit ?? "",
        evidence: checked_list(a.evidence, `advice.${a.rule}.evidence`, { text: "text" }, {}).map((e) => ({ text: e.text, links: this.links_of(e) })),
      }));
    });
  }
  // Where what an advice speaks of can be seen.
  private links_of(e: any): Evidence["links"] {
    const links: Evidence["links"] = [], number = (name: string, end: number) => (Number.isInteger(e[name]) && e[name] >= 0 && e[name] < end ? (e[name] as number) : undefined);
    const tile = number("tile", this.target.tiles), step = number("step", this.container.rows("steps")), variable = number("variable", this.container.rows("variables"));
    const order = number("order", Infinity) ?? (step !== undefined ? this.steps[step]?.order : undefined), exchange = number("exchange", this.container.rows("exchanges")), set = number("compute_set", this.container.rows("compute_sets"));
    const at: Record<string, string> = order !== undefined ? { step: String(order) } : {};
    if (tile !== undefined) links.push({ view: "memory", params: { tile: String(tile), ...at }, title: `tile ${tile}` });
    if (step !== undefined && (this.steps[step]?.cycles.compute ?? 0) > 0) links.push({ view: "balance", params: { ...at, stream: String(this.steps[step]!.stream) }, title: "balance" });
    if (variable !== undefined) links.push({ view: "memory", params: { variable: String(variable), plot: "variable" }, title: "variable" });
    if (exchange !== undefined) links.push({ view: "exchange", params: { exchange: String(exchange) }, title: "exchange" });
    const part = set === undefined ? undefined : this.program.find((p) => p.compute_set === set);
    if (part) links.push({ view: "program", params: { step: String(part.order) }, title: "compute set" });
    else if (order !== undefined) links.push({ view: "program", params: at, title: `step ${order}` });
    return links;
  }

  get streams(): Stream[] {
    return this.once("streams", () => this.rows_of<Stream>("streams", { name: "name", ipu: "ipu", io: "io", always_live: "always_live_bytes", finish: "finish" }, (row, i) => {
      row.io = row.io !== 0;
      row.cycles = Object.fromEntries(kTerms.map((t) => [t, this.container.column("streams", t)[i]!]));
      const [b, e] = this.span("streams", "tiles", i);
      row.tiles = [];
      for (let k = b; k < e; ++k) row.tiles.push(this.container.column("stream_tiles", "begin")[k]!, this.container.column("stream_tiles", "end")[k]!);
      row.liveness = this.span("streams", "liveness", i);
      row.trace = this.span("streams", "trace", i);
    }));
  }

  get tiles(): number {
    return this.container.rows("tiles");
  }
  get tile_used(): Float64Array {
    return this.container.column("tiles", "used");
  }
  get tile_with_gaps(): Float64Array {
    return this.container.column("tiles", "with_gaps");
  }
  get tile_always_live(): Float64Array {
    return this.container.column("tiles", "always_live");
  }
  /** By category: bytes of each tile. */
  get tile_by_category(): Float64Array[] {
    return this.once("tile_by_category", () => {
      const n = this.categories.length, all = this.container.column("tile_categories", "bytes");
      return this.categories.map((_, k) => Float64Array.from({ length: this.tiles }, (_, t) => all[t * n + k] ?? 0));
    });
  }
  liveness(stream: Stream): LiveSteps {
    return this.once(`liveness ${stream.index}`, () => {
      const [b, e] = stream.liveness, c = this.container, names = c.slice("liveness", "name", b, e);
      return {
        order: c.slice("liveness", "order", b, e), live: c.slice("liveness", "live_bytes", b, e), worst: c.slice("liveness", "worst_tile_bytes", b, e),
        worst_tile: c.slice("liveness", "worst_tile", b, e), name: (i: number) => c.text(names[i]!),
      };
    });
  }

  get variables(): Variable[] {
    return this.once("variables", () => this.rows_of<Variable>("variables",
      { name: "name", category: "category", bytes: "bytes", tiles: "tiles", largest: "largest", always: "always_live_bytes", first: "first", last: "last", source: "source" },
      (row) => (row.source = this.place(row.source))));
  }
  category_name(i: number): string {
    return this.categories[i]?.name ?? "?";
  }
  allocations(tile: number): Allocation[] {
    const [b, e] = this.span("tiles", "allocations", tile), c = this.container;
    const [offset, size, variable, live, estimated] = ["offset", "size", "variable", "live", "estimated"].map((n) => c.slice("allocations", n, b, e)) as Float64Array[];
    return Array.from({ length: e - b }, (_, i) => ({ tile, offset: offset![i]!, size: size![i]!, variable: variable![i]!, live: live![i]!, estimated: estimated![i] !== 0 }));
  }
  get has_allocations(): boolean {
    return this.container.rows("allocations") > 0;
  }
  /** begin, end, begin, end … of the orders at which it is live; null: always. */
  live_intervals(live: number): Float64Array | null {
    if (live === 0) return null;
    return this.once(`live ${live}`, () => {
      const [b, e] = this.span("live_sets", "intervals", live - 1), begin = this.container.column("live_intervals", "begin"), end = this.container.column("live_intervals", "end");
      const out = new Float64Array(2 * (e - b));
      for (let k = b; k < e; ++k) (out[2 * (k - b)] = begin[k]!), (out[2 * (k - b) + 1] = end[k]!);
      return out;
    });
  }
  is_live(live: number, order: number): boolean {
    const intervals = this.live_intervals(live);
    if (!intervals) return true;
    for (let k = 0; k < intervals.length; k += 2) if (order >= intervals[k]! && order < intervals[k + 1]!) return true;
    return false;
  }
  /** Bytes of each variable over all tiles at a step; what is always live included. */
  live_at(order: number): Float64Array {
    return this.once(`live at ${order}`, () => {
      const c = this.container, size = c.column("allocations", "size"), variable = c.column("allocations", "variable"), live = c.column("allocations", "live");
      const sets = new Uint8Array(c.rows("live_sets") + 1);
      for (let s = 0; s < sets.length; ++s) sets[s] = this.is_live(s, order) ? 1 : 0;
      const bytes = new Float64Array(c.rows("variables"));
      for (let i = 0; i < size.length; ++i) if (sets[live[i]!]) bytes[variable[i]!]! += size[i]!;
      return bytes;
    });
  }
  /** Bytes of a variable at each of these orders. */
  variable_over_steps(variable: number, orders: ArrayLike<number>): Float64Array {
    const c = this.container, size = c.column("allocations", "size"), of = c.column("allocations", "variable"), live = c.column("allocations", "live");
    const by_set = new Map<number, number>();
    for (let i = 0; i < size.length; ++i) if (of[i] === variable) by_set.set(live[i]!, (by_set.get(live[i]!) ?? 0) + size[i]!);
    const out = new Float64Array(orders.length);
    for (const [set, bytes] of by_set) for (let k = 0; k < orders.length; ++k) if (this.is_live(set, orders[k]!)) out[k]! += bytes;
    return out;
  }
  /** Bytes of a variable on each tile. */
  variable_over_tiles(variable: number): Float64Array {
    const c = this.container, size = c.column("allocations", "size"), of = c.column("allocations", "variable"), tile = c.column("allocations", "tile");
    const out = new Float64Array(this.tiles);
    for (let i = 0; i < size.length; ++i) if (of[i] === variable) out[tile[i]!]! += size[i]!;
    return out;
  }

  get program(): ProgramPart[] {
    return this.once("program", () => this.rows_of<ProgramPart>("program",
      { order: "order", name: "name", kind: "kind", inside: "inside", compute_set: "compute_set", exchange: "exchange", source: "source" }, (row, i) => {
        row.source = this.place(row.source);
        row.sources = row.source ? [row.source] : [];
        if (!this.has("program", "other_sources")) return;
        const [b, e] = this.span("program", "other_sources", i), of = this.container.column("other_sources", "source");
        for (let k = b; k < e; ++k) row.sources.push(this.place(of[k]!));
      }));
  }
  get compute_sets(): ComputeSet[] {
    return this.once("compute_sets", () => this.rows_of<ComputeSet>("compute_sets", { name: "name", vertices: "vertices", flops: "flops", source: "source" }, (row, i) => {
      row.source = this.place(row.source);
      const [b, e] = this.span("compute_sets", "groups", i), c = this.container;
      const [codelet, begin, end, count] = ["codelet", "begin", "end", "count"].map((n) => c.column("vertex_groups", n)) as Float64Array[];
      row.groups = Array.from({ length: e - b }, (_, k) => ({ codelet: codelet![b + k]!, begin: begin![b + k]!, end: end![b + k]!, count: count![b + k]! }));
    }));
  }
  get codelets(): Codelet[] {
    return this.once("codelets", () => this.rows_of<Codelet>("codelets", { name: "name", vertices: "vertices", executions: "executions", cycles: "cycles", estimated: "estimated" },
      (row, i) => {
        const c = this.container, newer = (column: string) => (this.has("codelets", column) ? c.column("codelets", column)[i]! : 0);
        row.estimated = row.estimated !== 0;
        row.source = this.has("codelets", "source") ? c.text(newer("source")) : "";
        row.defined = this.place(newer("defined") - 1);
        (row.flops = newer("flops")), (row.operand_bytes = newer("operand_bytes"));
      }));
  }
  /** The source of a codelet with its cycles, in order; empty if it was compiled without lines. */
  codelet_lines(codelet: number): CodeletLine[] {
    const by = this.once("codelet_lines", () => {
      const rows = this.rows_of<CodeletLine & { codelet: number }>("codelet_lines", { codelet: "codelet", file: "file", line: "line", cycles: "cycles", text: "text" });
      const out = new Map<number, CodeletLine[]>();
      for (const r of rows) out.set(r.codelet, [...(out.get(r.codelet) ?? []), r]);
      return out;
    });
    return by.get(codelet) ?? [];
  }
  get buffers(): Buffer[] {
    return this.once("buffers", () => this.rows_of<Buffer>("buffers",
      { compute_set: "compute_set", codelet: "codelet", field: "field", variable: "variable", tiles: "tiles", buffers: "buffers", pieces: "pieces", bytes: "bytes", remote: "remote_bytes" }));
  }
  get exchanges(): Exchange[] {
    return this.once("exchanges", () => this.rows_of<Exchange>("exchanges",
      { name: "name", bytes: "bytes", senders: "senders", receivers: "receivers", busiest_tile: "busiest_tile", busiest_bytes: "busiest_bytes", local: "local_bytes", copies: "copies", block: "block" }));
  }
  /** Where the user's program made an exchange: the places of the first step that does it. */
  exchange_sources(exchange: number): Place[] {
    return this.once("exchange sources", () => {
      const out = new Map<number, Place[]>();
      for (const p of this.program) if (p.exchange >= 0 && !out.has(p.exchange)) out.set(p.exchange, p.sources);
      return out;
    }).get(exchange) ?? [];
  }
  /** Sums by the first `depth` names of debug paths. */
  operations(depth: number): Operation[] {
    return this.once(`operations ${depth}`, () => {
      const by = new Map<string, Operation & { seen: Set<string> }>();
      const of = (path: string) => {
        const name = path.split("/").slice(0, depth).join("/");
        let o = by.get(name);
        if (!o) by.set(name, (o = { name, cycles: 0, compute: 0, exchange: 0, steps: 0, executions: 0, flops: 0, bytes: 0, sources: [], seen: new Set() }));
        return o;
      };
      const add = (o: Operation & { seen: Set<string> }, places: (Place | undefined)[]) => {
        for (const p of places) if (p && !o.seen.has(`${p.file}:${p.line}`)) o.seen.add(`${p.file}:${p.line}`), o.sources.push(p);
      };
      for (const s of this.steps) {
        const o = of(s.name), c = s.cycles;
        (o.cycles += s.total - c.wait), (o.compute += c.compute), (o.exchange += c.exchange + c.local_copy + c.global_exchange), (o.flops += s.flops), (o.executions += s.executions), ++o.steps;
        add(o, this.program[s.program]?.sources ?? []);
      }
      for (const v of this.variables) {
        const o = of(v.name);
        o.bytes += v.bytes;
        add(o, [v.source]);
      }
      for (const o of by.values()) o.sources.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
      return [...by.values()];
    });
  }
  traffic(exchange: number): Traffic {
    const [b, e] = this.span("exchanges", "traffic", exchange), c = this.container;
    return { from: c.slice("traffic", "from", b, e), to: c.slice("traffic", "to", b, e), bytes: c.slice("traffic", "bytes", b, e), messages: c.slice("traffic", "messages", b, e) };
  }

  get steps(): Step[] {
    return this.once("steps", () => steps_of(this.container));
  }
  /** Whether a step computes. */
  get computes(): boolean {
    return this.once("computes", () => this.container.column("steps", "compute").some((c) => c > 0));
  }
  profile(i: number): TileProfile {
    const [b, e] = this.span("tile_profiles", "ranges", i), c = this.container;
    return { exact: c.column("tile_profiles", "exact")[i] !== 0, begin: c.slice("tile_cycles", "begin", b, e), end: c.slice("tile_cycles", "end", b, e), cycles: c.slice("tile_cycles", "cycles", b, e) };
  }
  /** Cycles that each tile computes in a step at one execution; those that have none: 0. */
  tile_cycles(step: Step): Float64Array {
    const out = new Float64Array(this.target.tiles);
    if (step.profile >= 0) {
      const p = this.profile(step.profile);
      for (let k = 0; k < p.begin.length; ++k) out.fill(p.cycles[k]!, p.begin[k]!, p.end[k]!);
    } else {
      const s = this.streams[step.stream], each = step.cycles.compute / Math.max(1, step.executions);
      if (s) for (let k = 0; k < s.tiles.length; k += 2) out.fill(each, s.tiles[k]!, s.tiles[k + 1]!);
    }
    return out;
  }
  get run_times(): Run[] {
    return this.once("runs", () => this.rows_of<Run>("runs", { program: "program", begin: "begin", end: "end", host_ns: "host_ns" }));
  }
  get blocks(): Block[] {
    return this.once("blocks", () => this.rows_of<Block>("blocks", { name: "name", stream: "stream", stream_copy: "stream_copy", begin: "begin", end: "end" }, (row) => (row.stream_copy = row.stream_copy !== 0)));
  }

  /** The fullest moment: the stream's step whose fullest tile is fullest. */
  get peak(): { stream: Stream; step: number; order: number; tile: number; bytes: number } | undefined {
    return this.once("peak", () => {
      let best: { stream: Stream; step: number; order: number; tile: number; bytes: number } | undefined;
      for (const stream of this.streams) {
        const l = this.liveness(stream);
        for (let i = 0; i < l.worst.length; ++i)
          if (!best || l.worst[i]! > best.bytes) best = { stream, step: i, order: l.order[i]!, tile: l.worst_tile[i]!, bytes: l.worst[i]! };
      }
      return best;
    });
  }
}
