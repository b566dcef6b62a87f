// Executed steps. There may be a hundred thousand: a step is its row's number, and a column is inflated when something first asks for it.
import { Tables } from "./json_report.ts";
import type { Cycles, Step } from "./report.ts";

const kNames = [
  "stream", "name", "kind", "order", "program", "executions", "compute", "exchange", "local_copy", "sync", "global_exchange", "host", "wait", "vertices",
  "unestimated_vertices", "exchanged_bytes", "balance", "flops", "slowest_tile", "slowest_codelet", "slowest_cycles", "used_workers", "profile",
] as const;
type Columns = Record<(typeof kNames)[number] | "total", Float64Array>;

function columns_of(c: Tables): Columns {
  const out = {} as Columns;
  const once = (name: keyof Columns, make: () => Float64Array) =>
    Object.defineProperty(out, name, {
      configurable: true,
      get: () => {
        const value = make();
        Object.defineProperty(out, name, { value });
        return value;
      },
    });
  for (const name of kNames) once(name, () => c.column("steps", name));
  once("total", () => {
    const sum = new Float64Array(out.stream.length);
    for (const term of [out.compute, out.exchange, out.local_copy, out.sync, out.global_exchange, out.host, out.wait]) for (let i = 0; i < sum.length; ++i) sum[i]! += term[i]!;
    return sum;
  });
  return out;
}

class StepCycles implements Cycles {
  constructor(private readonly of: Columns, private readonly row: number) {}
  get compute() { return this.of.compute[this.row]!; }
  get exchange() { return this.of.exchange[this.row]!; }
  get local_copy() { return this.of.local_copy[this.row]!; }
  get global_exchange() { return this.of.global_exchange[this.row]!; }
  get sync() { return this.of.sync[this.row]!; }
  get host() { return this.of.host[this.row]!; }
  get wait() { return this.of.wait[this.row]!; }
}

class StepRow implements Step {
  constructor(private readonly c: Tables, private readonly of: Columns, readonly index: number) {}
  get stream() { return this.of.stream[this.index]!; }
  get name() { return this.c.text(this.of.name[this.index]!); }
  get kind() { return this.c.text(this.of.kind[this.index]!); }
  get order() { return this.of.order[this.index]!; }
  get program() { return this.of.program[this.index]! - 1; }
  get executions() { return this.of.executions[this.index]!; }
  get cycles(): Cycles { return new StepCycles(this.of, this.index); }
  get total() { return this.of.total[this.index]!; }
  get vertices() { return this.of.vertices[this.index]!; }
  get unestimated() { return this.of.unestimated_vertices[this.index]!; }
  get exchanged() { return this.of.exchanged_bytes[this.index]!; }
  get balance() { return this.of.balance[this.index]!; }
  get flops() { return this.of.flops[this.index]!; }
  get slowest_tile() { return this.of.slowest_tile[this.index]!; }
  get slowest_codelet() { return this.of.slowest_codelet[this.index]! - 1; }
  get slowest_cycles() { return this.of.slowest_cycles[this.index]!; }
  get used_workers() { return this.of.used_workers[this.index]!; }
  get profile() { return this.of.profile[this.index]! - 1; }
}

export function steps_of(c: Tables): Step[] {
  const of = columns_of(c), steps: Step[] = [];
  for (let i = 0, n = c.rows("steps"); i < n; ++i) steps.push(new StepRow(c, of, i));
  return steps;
}
