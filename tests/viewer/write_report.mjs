// Writes report files, version 4, for tests: an independent second writer of the format (docs/level/report.md).
import zlib from "node:zlib";

const kChunkRows = 65536;
const kCrc = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
function crc32(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);  // since Node 20.15
  let c = 0xffffffff;
  for (const b of bytes) c = kCrc[(c ^ b) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

// Columns by table: name, what it holds (n number, r real, t text, or "row:table", "maybe_row:table", "end:table"). A '+' behind: it ascends.
export const kTables = {
  streams: "name t,ipu n,io n,tiles end:stream_tiles+,always_live_bytes n,liveness end:liveness+,compute n,exchange n,local_copy n,sync n,global_exchange n,host n,wait n,finish n,trace end:trace+",
  stream_tiles: "begin n,end n",
  tiles: "used n,with_gaps n,always_live n,stream maybe_row:streams,allocations end:allocations+",
  tile_categories: "bytes n",
  variables: "name t,category n,bytes n,tiles n,largest n,always_live_bytes n,first n,last n,source maybe_row:sources",
  allocations: "tile n+,offset n,size n,variable row:variables,live maybe_row:live_sets,estimated n",
  live_sets: "intervals end:live_intervals+",
  live_intervals: "begin n,end n",
  liveness: "order n,name t,live_bytes n,worst_tile_bytes n,worst_tile n",
  program: "order n+,name t,kind t,inside maybe_row:program,compute_set maybe_row:compute_sets,exchange maybe_row:exchanges,source maybe_row:sources,other_sources end:other_sources+",
  other_sources: "source row:sources",
  compute_sets: "name t,vertices n,flops n,groups end:vertex_groups+,source maybe_row:sources",
  vertex_groups: "codelet row:codelets,begin n,end n,count n",
  codelets: "name t,vertices n,executions n,cycles n,estimated n,source t,defined maybe_row:sources,flops n,operand_bytes n",
  codelet_lines: "codelet row:codelets+,file t,line n,cycles n,text t",
  buffers: "compute_set row:compute_sets,codelet row:codelets,field t,variable t,tiles n,buffers n,pieces n,bytes n,remote_bytes n",
  exchanges: "name t,bytes n,senders n,receivers n,busiest_tile n,busiest_bytes n,local_bytes n,copies n,block n,traffic end:traffic+",
  traffic: "from n,to n,bytes n,messages n",
  steps: "stream row:streams,name t,kind t,order n,program maybe_row:program,executions n,compute n,exchange n,local_copy n,sync n,global_exchange n,host n,wait n,vertices n,unestimated_vertices n,exchanged_bytes n,balance r,flops n,slowest_tile n,slowest_codelet maybe_row:codelets,slowest_cycles n,used_workers n,profile maybe_row:tile_profiles",
  tile_profiles: "exact n,ranges end:tile_cycles+",
  tile_cycles: "begin n,end n,cycles n",
  trace: "step row:steps,gap n,cycles n,times n,rows n",
  runs: "program n,begin n+,end n+,host_ns n",
  blocks: "name t,stream row:streams,stream_copy n,begin n,end n",
  sources: "file t,line n",
};
const kHolds = { n: "number", r: "real", t: "text" };

export class Writer {
  constructor(writer = "a test") {
    this.writer = writer;
    this.pieces = [Buffer.from("PANDORPT\x04\0\0\0", "latin1")];
    this.offset = 12;
    this.texts = new Map([["", 0]]);
    this.documents = {};
    this.tables = {};
  }
  piece(bytes) {
    const stored = zlib.deflateSync(bytes, { level: 4 }), at = [this.offset, stored.length, bytes.length, crc32(stored)];
    this.pieces.push(stored);
    this.offset += stored.length;
    return at;
  }
  document(name, value) {
    this.documents[name] = this.piece(Buffer.from(JSON.stringify(value)));
  }
  text(t) {
    if (!this.texts.has(t)) this.texts.set(t, this.texts.size);
    return this.texts.get(t);
  }
  // columns: {name: array of numbers or texts}; those that are not given are 0.
  table(name, columns, rows = Math.max(0, ...Object.values(columns).map((c) => c.length))) {
    const spec = {};
    for (const one of kTables[name].split(",")) {
      const [column, what] = one.split(" "), ascends = what.endsWith("+"), [holds, table] = what.replace("+", "").split(":");
      const given = columns[column] ?? (holds === "t" ? Array(rows).fill("") : new Float64Array(rows)), chunks = [];
      if (given.length !== rows) throw new Error(`${name}.${column}: ${given.length} values, ${rows} rows`);
      for (let from = 0; from < rows; from += kChunkRows) {
        const part = Array.from(given.slice(from, from + kChunkRows), (v) => (holds === "t" ? this.text(v) : v));
        if (holds === "r") {
          const bytes = Buffer.alloc(8 * part.length);
          part.forEach((v, i) => bytes.writeDoubleLE(v, 8 * i));
          chunks.push([...this.piece(bytes), 8, 0, 0]);
          continue;
        }
        const base = ascends ? part[0] : part.reduce((a, b) => Math.min(a, b));
        const numbers = part.map((v, i) => (ascends ? (i ? v - part[i - 1] : 0) : v - base)), most = numbers.reduce((a, b) => Math.max(a, b));
        const width = most < 2 ** 8 ? 1 : most < 2 ** 16 ? 2 : most < 2 ** 32 ? 4 : 8, bytes = Buffer.alloc(width * part.length);
        numbers.forEach((v, i) => (width === 8 ? bytes.writeBigUInt64LE(BigInt(v), 8 * i) : bytes.writeUIntLE(v, width * i, width)));
        chunks.push([...this.piece(bytes), width, base, ascends ? 1 : 0]);
      }
      spec[column] = { holds: kHolds[holds] ?? holds, chunks, ...(table ? { table } : {}) };
    }
    this.tables[name] = { rows, columns: spec };
  }
  finish(version = 4) {
    this.document("strings", [...this.texts.keys()]);
    const index = { format: "pando-report", version, writer: this.writer, chunk_rows: kChunkRows, documents: this.documents, tables: this.tables };
    const [offset, stored, bytes, crc] = this.piece(Buffer.from(JSON.stringify(index))), foot = Buffer.alloc(28);
    foot.writeBigUInt64LE(BigInt(offset), 0);
    foot.writeUInt32LE(stored, 8);
    foot.writeUInt32LE(bytes, 12);
    foot.writeUInt32LE(crc, 16);
    foot.write("PANDOEND", 20, "latin1");
    return Buffer.concat([...this.pieces, foot]);
  }
}

// A generator with a seed, for data that look measured.
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// A run of many different steps on all tiles of one IPU: each step has cycles of its own by tile, in `ranges` ranges.
export function large_report({ tiles = 1472, steps = 100_000, ranges = 60, seed = 1 } = {}) {
  const next = random(seed), w = new Writer("viewer bench"), each = Math.ceil(tiles / ranges), per_step = Math.ceil(tiles / each), rows = steps * per_step;
  const begin = new Uint32Array(rows), end = new Uint32Array(rows), cycles = new Uint32Array(rows), ends = new Float64Array(steps), longest = new Float64Array(steps), balance = new Float64Array(steps);
  for (let s = 0, k = 0; s < steps; ++s) {
    const mean = 400 + 3000 * next();
    let sum = 0;
    for (let r = 0; r < per_step; ++r, ++k) {
      (begin[k] = r * each), (end[k] = Math.min(tiles, (r + 1) * each)), (cycles[k] = Math.round(mean * (0.5 + 0.5 * next() + 0.3 * (r % 23 === s % 23))));
      longest[s] = Math.max(longest[s], cycles[k]);
      sum += cycles[k];
    }
    balance[s] = sum / per_step / longest[s];
    ends[s] = (s + 1) * per_step;
  }
  const exchange = Float64Array.from({ length: steps }, () => Math.round(100 + 600 * next())), sync = new Float64Array(steps).fill(90), duration = longest.map((c, s) => c + exchange[s] + sync[s]);
  const all = duration.reduce((a, b) => a + b, 0), names = Array.from({ length: 512 }, (_, i) => `model/layer${i % 24}/${["matmul", "gelu", "softmax", "norm"][i % 4]}/part${i}`);
  w.document("report", { target: { name: "ipu2", ipus: 1, tiles_per_ipu: tiles, tiles, workers: 6, replicas: 1, bytes_per_tile: 638976, clock_hz: 1.33e9 }, graph: { variables: 8, vertices: tiles * 6, compute_sets: 512, edges: 0, programs: 1 }, out_of_memory: "", executed: true, runs: 1, total_cycles: all, blocks_lost: 0, events_lost: 0 });
  w.document("categories", [{ category: "variable", estimated: false, bytes: tiles * 200_000, meaning: "elements of the program's tensors", reduce: "" }]);
  w.document("advice", []);
  w.table("streams", { name: ["ipu0.compute"], ipu: [0], tiles: [1], liveness: [steps], compute: [longest.reduce((a, b) => a + b, 0)], exchange: [exchange.reduce((a, b) => a + b, 0)], sync: [90 * steps], finish: [all], trace: [steps] });
  w.table("stream_tiles", { begin: [0], end: [tiles] });
  w.table("tiles", { used: new Float64Array(tiles).fill(200_000), with_gaps: new Float64Array(tiles).fill(210_000), stream: new Float64Array(tiles).fill(1) });
  w.table("tile_categories", { bytes: new Float64Array(tiles).fill(200_000) });
  w.table("liveness", { order: Float64Array.from({ length: steps }, (_, i) => i), name: Array.from({ length: steps }, (_, i) => names[i % 512]), live_bytes: Float64Array.from({ length: steps }, () => Math.round(1e8 * (1 + next()))), worst_tile_bytes: Float64Array.from({ length: steps }, () => Math.round(1e5 * (1 + next()))), worst_tile: Float64Array.from({ length: steps }, () => Math.floor(tiles * next())) });
  w.table("program", { order: Float64Array.from({ length: steps }, (_, i) => i), name: Array.from({ length: steps }, (_, i) => names[i % 512]), kind: Array(steps).fill("compute") });
  w.table("steps", { name: Array.from({ length: steps }, (_, i) => names[i % 512]), kind: Array(steps).fill("compute"), order: Float64Array.from({ length: steps }, (_, i) => i), program: Float64Array.from({ length: steps }, (_, i) => i + 1), executions: new Float64Array(steps).fill(1), compute: longest, exchange, sync, balance, profile: Float64Array.from({ length: steps }, (_, i) => i + 1), used_workers: new Float64Array(steps).fill(6) });
  w.table("tile_profiles", { exact: new Float64Array(steps).fill(1), ranges: ends });
  w.table("tile_cycles", { begin, end, cycles });
  w.table("trace", { step: Float64Array.from({ length: steps }, (_, i) => i), cycles: duration, times: new Float64Array(steps).fill(1) });
  w.table("runs", { program: [0], begin: [0], end: [all], host_ns: [12e9] });
  w.table("sources", {});
  return w.finish();
}

// Ten million rows of a table, `long`: chunks that are one piece of the file. `trace`: a run of few steps, executed very often and never twice as long, so
// that its trace cannot be folded.
export function long_report(long) {
  const next = random(3), w = new Writer("a long run"), steps = 65536, count = (i) => Float64Array.from({ length: steps }, (_, k) => i * k), ones = new Float64Array(steps).fill(1);
  const names = Array.from({ length: steps }, (_, i) => `step${i % 100}`), cycles = Float64Array.from({ length: steps }, () => Math.floor(1 + 200 * next())), kinds = Array(steps).fill("compute");
  w.document("report", { target: { name: "ipu2", ipus: 1, tiles_per_ipu: 4, tiles: 4, workers: 6, replicas: 1, bytes_per_tile: 638976, clock_hz: 1.33e9 }, graph: { variables: 0, vertices: 0, compute_sets: 0, edges: 0, programs: 1 }, out_of_memory: "", executed: true, runs: 1, total_cycles: 1e9, blocks_lost: 0, events_lost: 0, lowered_variables: false, tile_cycles: false });
  w.document("categories", []);
  w.document("advice", []);
  w.table("stream_tiles", { begin: [0], end: [4] });
  w.table("program", { order: count(1), name: names, kind: kinds });
  w.table("steps", { name: names, kind: kinds, order: count(1), program: count(1).map((i) => i + 1), executions: ones, compute: cycles, balance: ones });
  w.table("trace", { step: count(1), cycles, times: ones });
  const times = Math.ceil(1e7 / steps), { columns } = w.tables[long];
  w.table("streams", { name: ["ipu0.compute"], tiles: [1], compute: [1e9], finish: [1e9], trace: [long === "trace" ? steps * times : steps] });
  w.tables[long].rows = steps * times;
  for (const column of Object.values(columns)) column.chunks = Array(times).fill(column.chunks[0]);
  return w.finish();
}
