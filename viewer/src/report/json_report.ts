// A report of version 3 (JSON, docs/level/profile.md) as the tables of version 4. What version 3 does not have is absent.
import { ColumnInfo, ReportError, TableInfo } from "./container.ts";

const kTerms = ["compute", "exchange", "local_copy", "sync", "global_exchange", "host", "wait"];

/** What a Report needs of a container. */
export interface Tables {
  readonly writer: string;
  readonly tables: Map<string, TableInfo>;
  document(name: string): unknown;
  rows(table: string): number;
  column(table: string, column: string): Float64Array;
  slice(table: string, column: string, begin: number, end: number): Float64Array;
  text(id: number): string;
}

export class JsonReport implements Tables {
  readonly writer = "version 3";
  readonly tables = new Map<string, TableInfo>();
  private readonly texts = [""];
  private readonly ids = new Map([["", 0]]);
  private readonly json: any;

  constructor(bytes: Uint8Array) {
    let json: any;
    try {
      json = JSON.parse(new TextDecoder().decode(bytes));
    } catch (error) {
      throw new ReportError(`The report is damaged: it is not JSON (${(error as Error).message}).`);
    }
    if (json?.format !== "pando-report") throw new ReportError('This is not a report of Pando: expected an object with "format": "pando-report".');
    if (json.version !== 3) throw new ReportError(`The report has version ${json.version}, this viewer reads versions 3 and 4.`);
    this.json = json;
    try {
      this.fill();
    } catch (error) {
      throw new ReportError(`The report is damaged: a part is missing or of the wrong type (${(error as Error).message}).`);
    }
  }

  private id(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) this.ids.set(text, (id = this.texts.push(text) - 1));
    return id;
  }
  // Columns of numbers, or of texts; `maybe` names those that hold a row plus 1.
  private table(name: string, rows: number, columns: Record<string, (number | string | boolean)[]>, maybe: string[] = []) {
    const infos = Object.entries(columns).map(([column, values]): [string, ColumnInfo] => {
      const text = typeof values[0] === "string";
      if (values.length !== rows) throw new Error(`${name}.${column} has ${values.length} values, there are ${rows}`);
      for (const v of values) if (text ? typeof v !== "string" : !Number.isFinite(Number(v)) || v === null) throw new Error(`${name}.${column}: ${JSON.stringify(v)?.slice(0, 60) ?? "nothing"}`);
      return [column, { holds: text ? "text" : maybe.includes(column) ? "maybe_row" : "number", table: "", chunks: [], values: Float64Array.from(values, (v) => (text ? this.id(String(v)) : Number(v))) }];
    });
    this.tables.set(name, { rows, columns: new Map(infos) });
  }

  private fill() {
    const j = this.json, names: string[] = (j.block_streams.length ? j.block_streams : j.streams.length ? j.streams : j.liveness).map((s: any) => s.stream);
    const totals = names.map((n) => j.streams.find((s: any) => s.stream === n)), live = names.map((n) => j.liveness.find((l: any) => l.stream === n));
    const per = j.target.tiles_per_ipu, places: number[][] = names.map((n, i) => {
      if (j.block_streams[i]?.stream === n) return j.block_streams[i].tiles;
      const ipu = Number(/^ipu(\d+)/.exec(n)?.[1] ?? 0);
      return [ipu * per, (ipu + 1) * per];
    });
    const ends = (lists: { length: number }[]) => { let n = 0; return lists.map((l) => (n += l.length)); };
    const live_steps: any[] = live.flatMap((l) => l?.steps ?? []);
    this.table("streams", names.length, {
      name: names, ipu: names.map((n) => Number(/^ipu(\d+)/.exec(n)?.[1] ?? 0)), io: names.map((n) => /\.io$/.test(n)), tiles: ends(places.map((p) => ({ length: p.length / 2 }))),
      always_live_bytes: live.map((l) => l?.always_live_bytes ?? 0), liveness: ends(live.map((l) => l?.steps ?? [])), finish: totals.map((t) => t?.finish ?? 0), trace: names.map(() => 0),
      ...Object.fromEntries(kTerms.map((t) => [t, totals.map((s) => s?.cycles[t] ?? 0)])),
    });
    const flat = places.flat();
    this.table("stream_tiles", flat.length / 2, { begin: flat.filter((_, k) => k % 2 === 0), end: flat.filter((_, k) => k % 2 === 1) });
    this.table("liveness", live_steps.length, { order: live_steps.map((s) => s.order), name: live_steps.map((s) => s.name), live_bytes: live_steps.map((s) => s.live_bytes), worst_tile_bytes: live_steps.map((s) => s.worst_tile_bytes), worst_tile: live_steps.map(() => 0) });
    this.table("tiles", j.tiles.length, { used: j.tiles.map((t: any) => t.used), with_gaps: j.tiles.map((t: any) => t.with_gaps), always_live: j.tiles.map(() => 0), allocations: j.tiles.map(() => 0) });
    this.table("tile_categories", j.tiles.length * j.categories.length, { bytes: j.tiles.flatMap((t: any) => t.by_category) });
    const category = new Map<string, number>(j.categories.map((c: any, i: number) => [c.category, i]));
    const l: any[] = j.largest, zeros = l.map(() => 0);
    this.table("variables", l.length, { name: l.map((v) => v.name), category: l.map((v) => category.get(v.category) ?? 0), bytes: l.map((v) => v.bytes), tiles: l.map((v) => v.tiles), largest: zeros, always_live_bytes: zeros, first: zeros, last: zeros, source: zeros }, ["source"]);
    const sets = new Map<string, number>(j.compute_sets.map((c: any, i: number) => [c.name, i + 1])), p: any[] = j.program;
    this.table("program", p.length, { order: p.map((s) => s.order), name: p.map((s) => s.name), kind: p.map((s) => s.kind), inside: p.map((s) => s.inside), compute_set: p.map((s) => (s.kind === "compute" ? (sets.get(s.name) ?? 0) : 0)), exchange: p.map(() => 0), source: p.map(() => 0) }, ["inside", "compute_set", "exchange", "source"]);
    this.codelets(j);
    this.steps(j, names);
  }

  private codelets(j: any) {
    const names: string[] = [...new Set<string>([...j.codelets.map((c: any) => c.codelet), ...j.compute_sets.flatMap((s: any) => s.codelets.map((c: any) => c.codelet))])];
    const vertices = new Map<string, number>(), groups: number[][] = [], ends: number[] = [], of_set: number[] = [];
    for (const s of j.compute_sets) {
      let n = 0;
      for (const c of s.codelets)
        for (let k = 0; k + 2 < c.tiles.length; k += 3) {
          const many = (c.tiles[k + 1] - c.tiles[k]) * c.tiles[k + 2];
          groups.push([names.indexOf(c.codelet), c.tiles[k], c.tiles[k + 1], c.tiles[k + 2]]);
          (n += many), vertices.set(c.codelet, (vertices.get(c.codelet) ?? 0) + many);
        }
      of_set.push(n), ends.push(groups.length);
    }
    const executed = names.map((n) => j.codelets.find((c: any) => c.codelet === n));
    this.table("codelets", names.length, { name: names, vertices: names.map((n) => vertices.get(n) ?? 0), executions: executed.map((c) => c?.instances ?? 0), cycles: executed.map((c) => c?.cycles ?? 0), estimated: executed.map((c) => c?.estimated ?? true) });
    this.table("compute_sets", ends.length, { name: j.compute_sets.map((s: any) => s.name), vertices: of_set, flops: ends.map(() => 0), groups: ends, source: ends.map(() => 0) }, ["source"]);
    this.table("vertex_groups", groups.length, { codelet: groups.map((g) => g[0]!), begin: groups.map((g) => g[1]!), end: groups.map((g) => g[2]!), count: groups.map((g) => g[3]!) });
  }

  private steps(j: any, names: string[]) {
    const s: any[] = j.steps, zeros = s.map(() => 0), profiles: number[] = [], ranges: number[][] = [], profile = s.map((x) => {
      if (!x.tile_cycles.length) return 0;
      for (let k = 0; k + 2 < x.tile_cycles.length; k += 3) ranges.push([x.tile_cycles[k], x.tile_cycles[k + 1], x.tile_cycles[k + 2] / Math.max(1, x.executions)]);
      return profiles.push(ranges.length);
    });
    this.table("steps", s.length, {
      stream: s.map((x) => Math.max(0, names.indexOf(x.stream))), name: s.map((x) => x.name), kind: s.map((x) => x.kind), order: s.map((x) => x.order), program: s.map((x) => j.program.findIndex((p: any) => p.order === x.order && p.kind === x.kind) + 1),
      executions: s.map((x) => x.executions), ...Object.fromEntries(kTerms.map((t) => [t, s.map((x) => x.cycles[t])])), vertices: s.map((x) => x.vertices), unestimated_vertices: s.map((x) => x.unestimated_vertices), exchanged_bytes: s.map((x) => x.exchanged_bytes),
      balance: s.map((x) => x.tile_balance), flops: zeros, slowest_tile: s.map((x) => slowest(x.tile_cycles)), slowest_codelet: zeros, slowest_cycles: zeros, used_workers: zeros, profile,
    }, ["program", "slowest_codelet", "profile"]);
    this.table("tile_profiles", profiles.length, { exact: profiles.map(() => 1), ranges: profiles });
    this.table("tile_cycles", ranges.length, { begin: ranges.map((r) => r[0]!), end: ranges.map((r) => r[1]!), cycles: ranges.map((r) => r[2]!) });
  }

  document(name: string): unknown {
    return name === "report" ? this.json : name === "categories" ? this.json.categories : undefined;
  }
  rows(table: string): number {
    return this.tables.get(table)?.rows ?? 0;
  }
  column(table: string, column: string): Float64Array {
    return this.tables.get(table)?.columns.get(column)?.values ?? new Float64Array(this.rows(table));
  }
  slice(table: string, column: string, begin: number, end: number): Float64Array {
    return this.column(table, column).subarray(begin, end);
  }
  text(id: number): string {
    return this.texts[id] ?? "";
  }
}

// The first tile of those that take longest, of flat ranges.
function slowest(ranges: number[]): number {
  let tile = 0, most = 0;
  for (let k = 0; k + 2 < ranges.length; k += 3) if (ranges[k + 2]! > most && ranges[k + 1]! > ranges[k]!) (most = ranges[k + 2]!), (tile = ranges[k]!);
  return tile;
}
