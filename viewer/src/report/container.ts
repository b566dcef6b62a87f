// Reads a report file, version 4 (docs/level/report.md): tables of columns in compressed pieces, inflated when they are asked for, and checked.
import { unzlibSync } from "fflate";

export class ReportError extends Error {}
/** A report that is whole, and longer than a page can show. */
export class TooLongError extends ReportError {}

const kHead = 12, kFoot = 28, kVersion = 4;
const kLargest = Number.MAX_SAFE_INTEGER;
const kMostDeflated = 1032;
// Chunks of columns that are read in parts, kept inflated.
const kKeptChunks = 600;

/** Bytes that may be made when they are asked for; a Uint8Array is one. */
export interface Bytes {
  readonly length: number;
  subarray(from: number, to: number): Uint8Array;
}
interface Piece {
  offset: number;
  stored: number;
  bytes: number;
  crc: number;
}
interface Chunk extends Piece {
  width: number;
  base: number;
  sums: boolean;
}
export interface ColumnInfo {
  holds: string;
  table: string;
  chunks: Chunk[];
  values?: Float64Array;
}
export interface TableInfo {
  rows: number;
  columns: Map<string, ColumnInfo>;
}

function damaged(what: string, how: string): never {
  throw new ReportError(`The report is damaged: ${what}: ${how}.`);
}

// Table k: what a byte does to the checksum when k more bytes follow. Four bytes at a time are three times as fast as one.
const kCrc = (() => {
  const first = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });
  const tables = [first];
  for (let k = 1; k < 4; ++k) tables.push(tables[k - 1]!.map((c) => first[c & 255]! ^ (c >>> 8)));
  return tables as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
})();
export function crc32(bytes: Uint8Array): number {
  const [t0, t1, t2, t3] = kCrc, fours = bytes.length & ~3;
  let c = -1, i = 0;
  for (; i < fours; i += 4) {
    c ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    c = t3[c & 255]! ^ t2[(c >>> 8) & 255]! ^ t1[(c >>> 16) & 255]! ^ t0[c >>> 24]!;
  }
  for (; i < bytes.length; ++i) c = t0[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return (c ^ -1) >>> 0;
}

function whole(value: unknown, where: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > kLargest) damaged(where, "expected a whole number");
  return value;
}
function object(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) damaged(where, "expected an object");
  return value as Record<string, unknown>;
}

export class Container {
  readonly writer: string;
  readonly tables = new Map<string, TableInfo>();
  private readonly documents = new Map<string, Piece>();
  private readonly chunk_rows: number;
  private readonly inflated = new Map<string, Float64Array>();
  private texts: string[] | undefined;

  constructor(private readonly file: Bytes) {
    const ascii = (from: number, to: number) => String.fromCharCode(...file.subarray(from, to));
    if (ascii(0, 8) !== "PANDORPT") throw new ReportError(file.length ? "This is not a report of Pando: it does not begin with PANDORPT." : "The file is empty.");
    if (file.length < kHead + kFoot) throw new ReportError(`The report is cut off: it has ${file.length} bytes, the shortest one has ${kHead + kFoot}.`);
    const numbers = (from: number, to: number) => {
      const bytes = file.subarray(from, to);
      return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    };
    const version = numbers(8, kHead).getUint32(0, true);
    if (version !== kVersion) throw new ReportError(`The report has version ${version}, this viewer reads version ${kVersion}.`);
    if (ascii(file.length - 8, file.length) !== "PANDOEND")
      throw new ReportError(`The report is cut off after ${file.length} bytes: it does not end with PANDOEND. The program that wrote it was stopped, or the file was copied in part.`);
    const foot = numbers(file.length - kFoot, file.length);
    const where = [Number(foot.getBigUint64(0, true)), foot.getUint32(8, true), foot.getUint32(12, true), foot.getUint32(16, true)];
    const index = object(this.json(this.piece(where, "its footer"), "its index"), "its index");
    this.writer = String(index["writer"] ?? "");
    this.chunk_rows = whole(index["chunk_rows"], "chunk_rows");
    if (this.chunk_rows === 0) damaged("chunk_rows", "it is 0");
    for (const [name, p] of Object.entries(object(index["documents"], "its index"))) this.documents.set(name, this.piece(p, name));
    for (const [name, t] of Object.entries(object(index["tables"], "its index"))) this.tables.set(name, this.table(name, object(t, name)));
  }

  private table(name: string, json: Record<string, unknown>): TableInfo {
    const rows = whole(json["rows"], name), chunks = Math.ceil(rows / this.chunk_rows);
    const columns = new Map<string, ColumnInfo>();
    for (const [column, spec_json] of Object.entries(object(json["columns"], name))) {
      const where = `${name}.${column}`, spec = object(spec_json, where), list = spec["chunks"];
      if (!Array.isArray(list) || list.length !== chunks) damaged(where, `${rows} rows have ${chunks} chunks`);
      columns.set(column, {
        holds: String(spec["holds"]),
        table: String(spec["table"] ?? ""),
        chunks: list.map((l: unknown, i: number) => {
          if (!Array.isArray(l) || l.length < 7) damaged(where, "expected a list of 7 numbers");
          const width = whole(l[4], where);
          const chunk = { ...this.piece(l, where), width, base: whole(l[5], where), sums: whole(l[6], where) !== 0 };
          if (![1, 2, 4, 8].includes(width)) damaged(where, `numbers have ${width} bytes`);
          if (chunk.bytes !== this.rows_of_chunk(rows, i) * width) damaged(where, `chunk ${i} has ${chunk.bytes} bytes`);
          return chunk;
        }),
      });
    }
    return { rows, columns };
  }

  private rows_of_chunk(rows: number, i: number): number {
    return Math.min(this.chunk_rows, rows - i * this.chunk_rows);
  }

  private piece(json: unknown, where: string): Piece {
    if (!Array.isArray(json) || json.length < 4) damaged(where, "expected a list of 4 numbers");
    const [offset, stored, bytes, crc] = json.slice(0, 4).map((n) => whole(n, where)) as [number, number, number, number];
    if (offset < kHead || offset + stored > this.file.length) damaged(where, `it names the bytes ${offset} to ${offset + stored}; the file has ${this.file.length}`);
    if (bytes > stored * kMostDeflated) damaged(where, `${stored} bytes cannot inflate to ${bytes}`);
    return { offset, stored, bytes, crc };
  }

  private inflate(p: Piece, what: string): Uint8Array {
    const stored = this.file.subarray(p.offset, p.offset + p.stored);
    if (crc32(stored) !== p.crc) damaged(what, `its checksum does not fit the bytes ${p.offset} to ${p.offset + p.stored} of the file`);
    let out;
    try {
      out = unzlibSync(stored, { out: new Uint8Array(p.bytes) });
    } catch (error) {
      damaged(what, `the bytes ${p.offset} to ${p.offset + p.stored} of the file do not inflate (${(error as Error).message})`);
    }
    if (out.length !== p.bytes) damaged(what, `it inflates to ${out.length} bytes, expected ${p.bytes}`);
    return out;
  }

  private json(p: Piece, what: string): unknown {
    try {
      return JSON.parse(new TextDecoder().decode(this.inflate(p, what)));
    } catch (error) {
      if (error instanceof ReportError) throw error;
      damaged(what, "it is not JSON");
    }
  }

  /** undefined if the file has none of that name. */
  document(name: string): unknown {
    const p = this.documents.get(name);
    return p && this.json(p, name);
  }

  rows(table: string): number {
    return this.tables.get(table)?.rows ?? 0;
  }

  has(table: string, column: string): boolean {
    return this.tables.get(table)?.columns.has(column) ?? false;
  }

  private chunk(t: TableInfo, c: ColumnInfo, i: number, what: string): Float64Array {
    const k = c.chunks[i]!, raw = this.inflate(k, what), n = this.rows_of_chunk(t.rows, i), out = new Float64Array(n);
    const v = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
    if (c.holds === "real") {
      for (let j = 0; j < n; ++j) out[j] = v.getFloat64(8 * j, true);
      return out;
    }
    // Inflated pieces begin at a multiple of their numbers' size; every browser runs on machines that are little-endian.
    if (k.width === 8) for (let j = 0; j < n; ++j) out[j] = v.getUint32(8 * j, true) + 2 ** 32 * v.getUint32(8 * j + 4, true);
    else out.set(k.width === 1 ? raw : k.width === 2 ? new Uint16Array(raw.buffer, raw.byteOffset, n) : new Uint32Array(raw.buffer, raw.byteOffset, n));
    let sum = k.base;
    if (k.sums) for (let j = 0; j < n; ++j) out[j] = sum += out[j]!;
    else if (k.base) for (let j = 0; j < n; ++j) out[j]! += k.base;
    if (k.width === 8 || k.sums || k.base > kLargest - 2 ** 32)
      for (let j = 0; j < n; ++j) if (!(out[j]! <= kLargest)) damaged(what, `the number of row ${j} is too large`);
    this.check(c, out, what);
    return out;
  }

  private check(c: ColumnInfo, values: Float64Array, what: string) {
    if (c.holds === "number" || c.holds === "real") return;
    const rows = c.holds === "text" ? this.strings().length : this.rows(c.table);
    const limit = c.holds === "text" || c.holds === "row" ? rows - 1 : rows;
    for (let i = 0; i < values.length; ++i) if (values[i]! > limit) damaged(what, `row ${i} holds ${values[i]}, the most is ${limit}`);
    if (c.holds === "end") for (let i = 1; i < values.length; ++i) if (values[i]! < values[i - 1]!) damaged(what, `row ${i} ends before the row before it`);
  }

  private find(table: string, column: string): [TableInfo, ColumnInfo] | undefined {
    const t = this.tables.get(table);
    if (!t) return undefined;
    const c = t.columns.get(column);
    if (!c) damaged(table, `the column '${column}' is missing`);
    return [t, c];
  }

  /** A whole column; of a table that the file does not have an empty one. */
  column(table: string, column: string): Float64Array {
    const found = this.find(table, column);
    if (!found) return new Float64Array();
    const [t, c] = found;
    if (!c.values) {
      const values = new Float64Array(t.rows);
      for (let i = 0; i < c.chunks.length; ++i) values.set(this.chunk(t, c, i, `${table}.${column}`), i * this.chunk_rows);
      c.values = values;
    }
    return c.values;
  }

  /** Rows [begin, end) of a column: only their chunks are inflated. */
  slice(table: string, column: string, begin: number, end: number): Float64Array {
    const found = this.find(table, column);
    if (!found || begin >= end) return new Float64Array();
    const [t, c] = found;
    if (end > t.rows) damaged(table, `rows ${begin} to ${end} are named, there are ${t.rows}`);
    if (c.values) return c.values.subarray(begin, end);
    const n = this.chunk_rows, first = Math.floor(begin / n), last = Math.floor((end - 1) / n);
    if (first === last) return this.kept_chunk(t, c, first, `${table}.${column}`).subarray(begin - first * n, end - first * n);
    const out = new Float64Array(end - begin);
    for (let i = first; i <= last; ++i) {
      const from = Math.max(begin, i * n), to = Math.min(end, (i + 1) * n);
      out.set(this.kept_chunk(t, c, i, `${table}.${column}`).subarray(from - i * n, to - i * n), from - begin);
    }
    return out;
  }

  private kept_chunk(t: TableInfo, c: ColumnInfo, i: number, what: string): Float64Array {
    const key = `${what} ${i}`;
    let chunk = this.inflated.get(key);
    if (!chunk) {
      chunk = this.chunk(t, c, i, what);
      this.inflated.set(key, chunk);
      if (this.inflated.size > kKeptChunks) this.inflated.delete(this.inflated.keys().next().value!);
    }
    return chunk;
  }

  private strings(): string[] {
    if (!this.texts) {
      const list = this.document("strings");
      if (!Array.isArray(list) || !list.length || !list.every((s) => typeof s === "string")) damaged("strings", "expected a list of texts");
      this.texts = list as string[];
    }
    return this.texts;
  }

  text(id: number): string {
    return this.strings()[id] ?? damaged("strings", `text ${id} is named, there are ${this.strings().length}`);
  }
}
