// The data layer of the viewer (viewer/src/report) on reports that write_report.mjs writes: node --test data_layer_test.mjs
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { large_report, random, Writer } from "./write_report.mjs";

const viewer = join(dirname(fileURLToPath(import.meta.url)), "../../viewer"), modules = process.env.PANDO_NODE_MODULES;
const folder = mkdtempSync(join(tmpdir(), "pando-viewer-"));

// The modules as Node can import them.
async function bundled(name, exports) {
  const { build } = createRequire(join(modules, "x.js"))("esbuild"), out = join(folder, `${name}.mjs`);
  await build({ stdin: { contents: exports, resolveDir: join(viewer, "src"), loader: "ts" }, bundle: true, format: "esm", platform: "node", outfile: out, nodePaths: [modules], jsx: "automatic", jsxImportSource: "preact", logLevel: "error" });
  return import(pathToFileURL(out).href);
}
const { PageBytes, open, trace_of, at_step, fullest_order, by_host, plan_lanes, place_names, told_apart, matched, bytes, Trace, kTerms, csv_of, place_of, text_of, kKinds, kSeries, ramp } = await bundled("layer", `
  export { open } from "./report/open.ts";
  export { PageBytes } from "./report/page_bytes.ts";
  export { kTerms } from "./report/report.ts";
  export { trace_of, Trace } from "./report/trace.ts";
  export { at_step, fullest_order } from "./pictures/address_map.ts";
  export { by_host, plan_lanes } from "./pictures/plan_lanes.ts";
  export { place_names, told_apart } from "./widgets/names.ts";
  export { matched } from "./views/compare.tsx";
  export { csv_of } from "./widgets/table.tsx";
  export { place_of, text_of } from "./state.ts";
  export { bytes } from "./format.ts";
  export { kKinds, kSeries, ramp } from "./colours.ts";`);

const kTarget = { name: "tiny", ipus: 1, tiles_per_ipu: 4, tiles: 4, workers: 6, replicas: 1, bytes_per_tile: 1000, clock_hz: 1e9 };

function small(trace = { step: [0, 1], cycles: [100, 50], times: [1, 1], gap: [0, 7], rows: [0, 0] }) {
  const w = new Writer();
  w.document("report", { target: kTarget, graph: {}, out_of_memory: "", executed: true, runs: 1, total_cycles: 157 });
  w.document("categories", [{ category: "variable", estimated: false, bytes: 900, meaning: "m", reduce: "r" }, { category: "stack", estimated: true, bytes: 40, meaning: "", reduce: "" }]);
  w.document("advice", []);
  w.table("streams", { name: ["ipu0.compute"], ipu: [0], tiles: [1], liveness: [2], compute: [120], exchange: [30], wait: [7], finish: [157], trace: [trace.step.length] });
  w.table("stream_tiles", { begin: [0], end: [4] });
  w.table("tiles", { used: [500, 0, 0, 440], with_gaps: [600, 0, 0, 440], always_live: [300, 0, 0, 40], stream: [1, 1, 1, 1], allocations: [3, 3, 3, 4] });
  w.table("tile_categories", { bytes: [500, 0, 0, 0, 0, 0, 400, 40] });
  w.table("variables", { name: ["x", "y", "stacks"], category: [0, 0, 1], bytes: [700, 200, 40], tiles: [2, 1, 1], largest: [400, 200, 40], always_live_bytes: [300, 0, 40], first: [1, 0, 0], last: [2, 1, 0], source: [1, 0, 0] });
  w.table("allocations", { tile: [0, 0, 0, 3], offset: [0, 400, 400, 0], size: [300, 200, 100, 440], variable: [0, 1, 0, 0], live: [0, 1, 2, 0], estimated: [0, 0, 0, 0] });
  w.table("live_sets", { intervals: [1, 2] });
  w.table("live_intervals", { begin: [0, 1], end: [1, 2] });
  w.table("liveness", { order: [0, 1], name: ["a/first", "a/second"], live_bytes: [200, 100], worst_tile_bytes: [500, 440], worst_tile: [0, 3] });
  w.table("program", { order: [0, 1], name: ["a/first", "a/second"], kind: ["compute", "exchange"], inside: [0, 0], compute_set: [1, 0], exchange: [0, 1], source: [1, 1], other_sources: [0, 1] });
  w.table("other_sources", { source: [2] });
  w.table("compute_sets", { name: ["first"], vertices: [8], groups: [1], source: [0] });
  w.table("codelets", { name: ["Add<float>"], vertices: [8], executions: [8], cycles: [300], estimated: [1], source: ["counted"], defined: [2], flops: [64], operand_bytes: [96] });
  w.table("codelet_lines", { codelet: [0, 0], file: ["add.cpp", "add.cpp"], line: [7, 8], cycles: [280, 20], text: ["  out[i] = a[i] + b[i];", "}"] });
  w.table("vertex_groups", { codelet: [0], begin: [0], end: [4], count: [2] });
  w.table("exchanges", { name: ["copy"], bytes: [12], senders: [1], receivers: [1], busiest_tile: [3], busiest_bytes: [12], block: [1], traffic: [1] });
  w.table("traffic", { from: [0], to: [3], bytes: [12], messages: [1] });
  w.table("steps", { stream: [0, 0], name: ["a/first", "a/second"], kind: ["compute", "exchange"], order: [0, 1], program: [1, 2], executions: [1, 1], compute: [80, 0], exchange: [20, 50], balance: [0.5, 1], slowest_tile: [2, 0], slowest_codelet: [1, 0], profile: [1, 0] });
  w.table("tile_profiles", { exact: [1], ranges: [2] });
  w.table("tile_cycles", { begin: [0, 2], end: [2, 3], cycles: [20, 80] });
  w.table("trace", trace);
  w.table("runs", {});
  w.table("sources", { file: ["a.cpp", "add.cpp", "a.cpp"], line: [12, 3, 5] });
  return w;
}

test("columns of every width, texts, reals, differences", () => {
  const next = random(3), n = 150_000, w = small();
  const widths = [200, 60_000, 4e9, 2 ** 52].map((most) => Float64Array.from({ length: n }, () => Math.floor(most * next())));
  w.table("tile_cycles", { begin: widths[0], end: widths[1], cycles: widths[2] });
  w.table("traffic", { from: [], to: [] });
  w.table("live_intervals", { begin: widths[3], end: Float64Array.from({ length: n }, (_, i) => i) });
  const ascends = Float64Array.from({ length: n }, (_, i) => 5 + i * 3);
  w.table("runs", { program: new Float64Array(n), begin: ascends, end: ascends, host_ns: widths[3] });
  const c = open("x", w.finish()).container;
  assert.deepEqual(c.column("tile_cycles", "begin"), widths[0]);
  assert.deepEqual(c.slice("tile_cycles", "end", 65_000, 140_000), widths[1].slice(65_000, 140_000));
  assert.deepEqual(c.column("tile_cycles", "cycles"), widths[2]);
  assert.deepEqual(c.column("live_intervals", "begin"), widths[3]);
  assert.deepEqual(c.slice("runs", "begin", 65_530, 65_540), ascends.slice(65_530, 65_540));
  assert.deepEqual([...c.column("steps", "balance")], [0.5, 1]);
});

test("a report as things", () => {
  const r = open("x", small().finish());
  assert.equal(r.steps[0].name, "a/first");
  assert.equal(r.steps[0].total, 100);
  assert.deepEqual([...r.tile_cycles(r.steps[0])], [20, 20, 80, 0]);
  assert.deepEqual(r.program[0].source, { file: "a.cpp", line: 12 });
  assert.equal(r.codelets[0].source, "counted");
  assert.deepEqual([r.codelets[0].defined, r.codelets[0].flops, r.codelets[0].operand_bytes], [{ file: "add.cpp", line: 3 }, 64, 96]);
  assert.deepEqual(r.exchange_sources(0).map((p) => p.line), [12, 5]);
  const operations = r.operations(1);
  assert.deepEqual(operations.map((o) => [o.name, o.cycles, o.steps, o.bytes]), [["a", 150, 2, 0], ["x", 0, 0, 700], ["y", 0, 0, 200], ["stacks", 0, 0, 40]]);
  assert.deepEqual(operations[0].sources.map((p) => p.line), [5, 12]);
  assert.deepEqual(r.operations(2).map((o) => o.name), ["a/first", "a/second", "x", "y", "stacks"]);
  assert.deepEqual(r.codelet_lines(0).map((l) => [l.file, l.line, l.cycles, l.text]), [["add.cpp", 7, 280, "  out[i] = a[i] + b[i];"], ["add.cpp", 8, 20, "}"]]);
  assert.deepEqual(r.codelet_lines(1), []);
  assert.equal(r.program[1].compute_set, -1);
  assert.deepEqual(r.tile_by_category.map((c) => [...c]), [[500, 0, 0, 400], [0, 0, 0, 40]]);
  assert.deepEqual([r.peak.order, r.peak.tile, r.peak.bytes], [0, 0, 500]);
  assert.deepEqual([...r.live_at(0)], [740, 200, 0]);
  assert.deepEqual([...r.live_at(1)], [840, 0, 0]);
  assert.deepEqual([...r.variable_over_steps(0, [0, 1])], [740, 840]);
  assert.deepEqual([...r.variable_over_tiles(0)], [400, 0, 0, 440]);
  const now = at_step(r, r.allocations(0), 0);
  assert.deepEqual([now.used, now.top, now.holes], [500, 600, [{ offset: 300, size: 100 }, { offset: 600, size: 400 }]]);
});

// A loop of 1,000,000 rounds with a loop of 3 in it, unfolded in the test for the first rounds.
test("a folded trace of six million steps", () => {
  const r = open("x", small({ step: [0, 0, 0, 1, 1], gap: [0, 0, 4, 7, 0], cycles: [10, 375, 100, 50, 6], times: [2, 1_000_000, 3, 1, 1], rows: [0, 2, 0, 0, 0] }).finish());
  const t = trace_of(r, r.streams[0]), round = 3 * 104 + 57;
  // The loop's own cycles are not looked at: they follow from its round.
  assert.equal(t.events, 2 + 4_000_000 + 1);
  assert.equal(t.nodes[1].round.length, round);
  const unfolded = [];
  for (let k = 0, at = 0; k < 2; ++k) unfolded.push([0, at, (at += 10)]);
  for (let k = 0, at = 20; k < 50; ++k) {
    for (let i = 0; i < 3; ++i) unfolded.push([0, at + 4, at + 104]), (at += 104);
    unfolded.push([1, at + 7, at + 57]), (at += 57);
  }
  const seen = [];
  t.visit(0, 20 + 50 * t.nodes[1].each, 0, (e) => void seen.push([e.step, e.begin + e.gap, e.end]));
  assert.deepEqual(seen.slice(0, 150), unfolded.slice(0, 150));
  const sum = (from, to) => {
    const out = new Float64Array(kTerms.length);
    t.add(out, from, to);
    return [...out];
  };
  // Over any time all terms add up to it, and parts to the whole.
  const next = random(5);
  for (let k = 0; k < 200; ++k) {
    const a = next() * t.length, b = a + next() * next() * (t.length - a), m = a + (b - a) * next();
    const all = sum(a, b), parts = sum(a, m).map((v, i) => v + sum(m, b)[i]);
    assert.ok(Math.abs(all.reduce((x, y) => x + y, 0) - (b - a)) < 1e-3 * Math.max(1, b - a), `${a} ${b} ${all}`);
    all.forEach((v, i) => assert.ok(Math.abs(v - parts[i]) < 1e-6 * Math.max(1, b - a) + 1, `${v} ${parts[i]}`));
  }
  assert.equal(t.at(5).step, 0);
  assert.equal(t.next_of((s) => s === 1, 100).begin, 20 + 3 * 104);
});

test("terms and tiles of a large report", () => {
  const r = open("x", large_report({ steps: 2000, ranges: 60 })), t = trace_of(r, r.streams[0]);
  assert.equal(t.length, r.total_cycles);
  const out = new Float64Array(kTerms.length);
  t.add(out, 0, t.length);
  assert.ok(Math.abs(out[kTerms.indexOf("compute")] - r.streams[0].cycles.compute) < 1);
});

test("a file of an earlier version lacks columns", () => {
  const w = small();
  for (const [table, columns] of [["program", ["other_sources"]], ["codelets", ["defined", "flops", "operand_bytes", "source"]]]) for (const c of columns) delete w.tables[table].columns[c];
  const r = open("x", w.finish());
  assert.deepEqual([r.codelets[0].defined, r.codelets[0].flops, r.codelets[0].source], [undefined, 0, ""]);
  assert.deepEqual(r.exchange_sources(0).map((p) => p.line), [12]);
});

test("what is damaged is said", () => {
  const file = small().finish(), said = (bytes) => {
    try {
      const r = open("x", bytes);
      for (const [name, t] of r.container.tables) for (const column of t.columns.keys()) r.container.column(name, column);
      for (const d of ["report", "categories", "advice"]) r.container.document(d);
    } catch (error) {
      assert.equal(error.constructor.name, "ReportError", error.stack);
      return error.message;
    }
    return "";
  };
  assert.equal(said(file), "");
  assert.match(said(new Uint8Array()), /empty/);
  assert.match(said(file.subarray(0, 30)), /cut off/);
  assert.match(said(file.subarray(0, file.length - 9)), /cut off/);
  assert.match(said(Buffer.concat([file.subarray(0, 8), Buffer.from([9, 0, 0, 0]), file.subarray(12)])), /version 9/);
  for (let at = 12; at < file.length - 28; at += 7) {
    const bad = Buffer.from(file);
    bad[at] ^= 0x10;
    assert.match(said(bad), /damaged/, `byte ${at}`);
  }
  const rows = small();
  rows.table("steps", { name: ["a"], stream: [7] });
  assert.match(said(rows.finish()), /steps.stream: row 0 holds 7/);
});

// Every value of every document in turn as something else: what the views read is there, or the page says what is wrong.
test("documents that hold something else", () => {
  const wrong = [null, "x", -1.5, true, [], {}, [[]]], plan = {
    title: "t", machine: "m", text: "", why_not: "", seconds: 1, memory_limit: 10, points: [{ strategy: "s", seconds: 1, bytes: 2, frontier: true }], kinds: ["k"], devices: [{ name: "d", computing: 1, transferring: 0, end: 1, memory: [3] }],
    names: ["F"], events: { device: [0], name: [0], transfer: [false], begin: [0], seconds: [1], kind: [0], bytes: [3], host_begin: [0], host_seconds: [1] }, events_lost: 0, event_kinds: ["forward"],
    messages: { from: [0], to: [0], name: [0], bytes: [1], sent: [0], received: [1], host_sent: [0], host_received: [1] }, messages_lost: 0, values: [{ name: "v", kind: "w", shape: "", bytes: 1, devices: [0] }],
  };
  const documents = {
    report: { target: kTarget, graph: { vertices: 8 }, out_of_memory: "", executed: true, runs: 1, total_cycles: 157, events_lost: 0 },
    categories: [{ category: "variable", estimated: false, bytes: 900, meaning: "m", reduce: "r" }], advice: [{ rule: "r", title: "t", text: "x", cost: 0.5, unit: "cycles", evidence: [{ text: "e", tile: 0, order: 0 }] }], plan, predicted: plan,
  };
  // A view of each thing, as the views take it: of numbers, texts and lists.
  const used = (r) => [r.target_line(), r.target.name.length, r.seconds(1), bytes(r.target.bytes_per_tile), r.graph.vertices, r.out_of_memory.split(" "), r.categories.map((c) => [c.name.length, bytes(c.bytes), c.meaning.length, c.reduce.length]),
    r.advice.map((a) => [a.title.length, a.text.length, a.cost.toFixed(1), a.unit.length, a.evidence.map((e) => [e.text.length, e.links.length])]), r.tile_by_category,
    ...[r.plan, r.predicted].filter(Boolean).map((p) => [plan_lanes(p, true).at(0.5, 0), by_host(p).seconds.toFixed(1), p.names.map((n) => n.length), p.values.map((v) => v.name.length + v.shape.length), p.text.length, p.points.map((q) => q.strategy.length)])];
  let said = 0, all = 0;
  const base = small();
  const visit = (value, put) => {
    if (value !== null && typeof value === "object") for (const key of Object.keys(value)) visit(value[key], (v) => put(Array.isArray(value) ? value.map((old, i) => (String(i) === key ? v : old)) : { ...value, [key]: v }));
    for (const w of wrong) {
      const writer = Object.assign(new Writer(), base, { pieces: [...base.pieces], documents: { ...base.documents }, tables: base.tables });
      for (const [name, document] of Object.entries({ ...documents, ...put(w) })) writer.document(name, document);
      ++all;
      try {
        used(open("x", writer.finish()));
      } catch (error) {
        assert.equal(error.constructor.name, "ReportError", `${JSON.stringify(put(w)).slice(0, 300)}: ${error.stack}`);
        assert.match(error.message, /damaged: /);
        ++said;
      }
    }
  };
  for (const name of Object.keys(documents)) visit(documents[name], (v) => ({ [name]: v }));
  assert.ok(all > 800 && said > 0.7 * all, `${said} of ${all}`);
});

// Of version 3, too.
test("a report of version 3 that holds something else", () => {
  const whole = { format: "pando-report", version: 3, target: kTarget, graph: {}, block_streams: [{ stream: "ipu0.compute", tiles: [0, 4] }], streams: [{ stream: "ipu0.compute", finish: 9, cycles: { compute: 9, exchange: 0, local_copy: 0, sync: 0, global_exchange: 0, host: 0, wait: 0 } }],
    liveness: [{ stream: "ipu0.compute", always_live_bytes: 1, steps: [{ order: 0, name: "a", live_bytes: 1, worst_tile_bytes: 1 }] }], tiles: [{ used: 1, with_gaps: 1, by_category: [1] }], categories: [{ category: "variable", bytes: 1 }], largest: [{ name: "v", category: "variable", bytes: 1, tiles: 1 }],
    compute_sets: [{ name: "a", codelets: [{ codelet: "C", tiles: [0, 4, 1] }] }], codelets: [{ codelet: "C", instances: 4, cycles: 36 }], program: [{ order: 0, name: "a", kind: "compute", inside: 0 }],
    steps: [{ stream: "ipu0.compute", name: "a", kind: "compute", order: 0, executions: 1, cycles: { compute: 9, exchange: 0, local_copy: 0, sync: 0, global_exchange: 0, host: 0, wait: 0 }, vertices: 4, unestimated_vertices: 0, exchanged_bytes: 0, tile_balance: 1, tile_cycles: [0, 4, 9] }], executed: true, runs: 1, total_cycles: 9 };
  const read = (json) => open("x", Buffer.from(JSON.stringify(json)));
  assert.equal(read(whole).steps[0].total, 9);
  let said = 0;
  for (const key of Object.keys(whole).filter((k) => k !== "format" && k !== "version" && k !== "executed" && k !== "runs"))
    for (const w of [null, "x", 7, {}, [null], [{}], ["x"]]) {
      try {
        const r = read({ ...whole, [key]: w });
        assert.ok(r.steps.every((s) => typeof s.name === "string" && Number.isFinite(s.total)) && r.variables.every((v) => Number.isFinite(v.bytes)) && r.categories.every((c) => Number.isFinite(c.bytes)), key);
      } catch (error) {
        assert.equal(error.constructor.name, "ReportError", `${key} ${JSON.stringify(w)}: ${error.stack}`);
        ++said;
      }
    }
  assert.ok(said > 60, `${said}`);
});

test("names beside points", () => {
  assert.deepEqual(told_apart(["t=2 d=1 x", "t=4 d=1 x", "t=4 d=2 x"]), ["t=2 d=1", "t=4 d=1", "t=4 d=2"]);
  assert.deepEqual(told_apart(["t=2 d=1"]), ["t=2 d=1"]);
  const next = random(9), points = Array.from({ length: 300 }, (_, i) => ({ item: i, text: "n".repeat(3 + Math.floor(9 * next())), x: 900 * next(), y: 400 * next(), r: 4 })), room = { left: 20, right: 880, top: 10, bottom: 380 }, width = (t) => 6 * t.length;
  const placed = place_names(points, room, width), box = (p) => [p.x, p.x + width(p.text), p.y - 10, p.y + 3];
  assert.ok(placed.length > 30, `${placed.length}`);
  for (const [i, p] of placed.entries()) {
    const [x0, x1, y0, y1] = box(p);
    assert.ok(x0 >= room.left && x1 <= room.right && y0 >= room.top && y1 <= room.bottom, JSON.stringify(p));
    for (const q of placed.slice(i + 1).map(box)) assert.ok(x1 <= q[0] || q[1] <= x0 || y1 <= q[2] || q[3] <= y0, `${JSON.stringify(p)} is under ${q}`);
    for (const q of points) assert.ok(x1 <= q.x - q.r || q.x + q.r <= x0 || y1 <= q.y - q.r || q.y + q.r <= y0, `${JSON.stringify(p)} is over a point`);
  }
});

test("names are whole where they have room, and cut where they have not", () => {
  const long = "a name of thirty-six letters, or so it", short = "a name of …", room = { left: 0, right: 400, top: 0, bottom: 100 }, width = (t) => 7 * t.length;
  const alone = place_names([{ item: 0, text: long, short, x: 100, y: 50, r: 4 }], room, width);
  assert.deepEqual(alone.map((p) => p.text), [long]);
  const narrow = place_names([{ item: 0, text: long, short, x: 100, y: 50, r: 4 }], { ...room, right: 220 }, width);
  assert.deepEqual(narrow.map((p) => p.text), [short]);
});

test("the step at which a tile is fullest", () => {
  const r = open("x", small().finish());
  assert.equal(fullest_order(r, r.allocations(0)), 0);
  assert.equal(fullest_order(r, r.allocations(3)), undefined);
});

test("comparison, CSV, the fragment, numbers", () => {
  assert.deepEqual(matched([["a", 1], ["b", 5], ["a", 2]], [["a", 1], ["c", 9]]), [{ name: "c", a: 0, b: 9 }, { name: "b", a: 5, b: 0 }, { name: "a", a: 3, b: 1 }]);
  assert.equal(csv_of([{ n: 'x,"y"', v: 2 }], [{ id: "n", title: "name", value: (r) => r.n }, { id: "v", title: "value", value: (r) => r.v }]), 'name,value\n"x,""y""",2\n');
  const place = { view: "memory", params: { tile: "3", find: "a b&c" } };
  assert.deepEqual(place_of(text_of(place)), place);
  assert.deepEqual([bytes(1023), bytes(1024), bytes(638976)], ["1023 B", "1.0 KiB", "624.0 KiB"]);
});

// Colours as people without one kind of cones see them (Viénot, Brettel, Mollon 1999; the third by Brettel's plane), and their distance in CIELAB.
const kVision = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [0.11238, 0.88762, 0, 0.11238, 0.88762, 0, 0.00401, -0.00401, 1],
  deutan: [0.29275, 0.70725, 0, 0.29275, 0.70725, 0, -0.02234, 0.02234, 1],
  tritan: [1, 0.1446, -0.1446, 0, 0.8599, 0.1401, 0, 0.8599, 0.1401],
};
function lab(hex, vision) {
  const linear = [16, 8, 0].map((s) => ((parseInt(hex.slice(1), 16) >> s) & 255) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const times = (m, v) => [0, 1, 2].map((i) => Math.max(0, m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]));
  const [x, y, z] = times([0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505], times(kVision[vision], linear)).map((v, i) => v / [0.9505, 1, 1.089][i]);
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))];
}
const distance = (a, b, vision) => Math.hypot(...lab(a, vision).map((v, i) => v - lab(b, vision)[i]));

test("kinds of cycles, and categories, differ for every kind of colour vision, and from both backgrounds", () => {
  assert.equal(new Set(kSeries).size, 12);
  const kinds = Object.entries(kKinds);
  assert.deepEqual(kinds.map(([k]) => k).sort(), [...kTerms].sort());
  for (const vision of Object.keys(kVision)) for (const colours of [kinds, Object.entries(kSeries)])
    for (const [i, [name, colour]] of colours.entries()) {
      for (const [other, its] of colours.slice(i + 1)) assert.ok(distance(colour, its, vision) > 10, `${vision}: ${name} and ${other}: ${distance(colour, its, vision).toFixed(1)}`);
      for (const back of ["#ffffff", "#12171d"]) assert.ok(distance(colour, back, vision) > 25, `${vision}: ${name} on ${back}`);
    }
  assert.ok(distance("#0072b2", "#0074b4", "all") < 2 && distance("#d55e00", "#719a00", "deutan") < distance("#d55e00", "#719a00", "all") / 2);
  // A map of numbers says them by its lightness alone: also on a printer.
  for (const vision of Object.keys(kVision)) {
    const light = Array.from({ length: 33 }, (_, k) => lab("#" + ramp(k / 32).map((v) => v.toString(16).padStart(2, "0")).join(""), vision)[0]);
    for (let k = 1; k < light.length; ++k) assert.ok(light[k] > light[k - 1], `${vision}: ${light[k - 1]} to ${light[k]}`);
  }
});

// The other reader, in C++, takes what this writer writes, and the page is what the sources say.
test("pando view takes it", () => {
  const file = join(folder, "small.pando"), page = join(folder, "small.html");
  writeFileSync(file, small().finish());
  execFileSync(join(process.env.PANDO_BIN, "pando"), ["view", file, "--no-open", "-o", page]);
  assert.match(readFileSync(page, "utf8"), /data-name="small.pando"/);
});
test("the page is that of the sources", () => {
  const out = join(folder, "page.html");
  const built = spawnSync(process.execPath, [join(viewer, "build.mjs"), out], { encoding: "utf8", env: { ...process.env } });
  assert.equal(built.status, 0, built.stderr);
  assert.equal(readFileSync(out, "utf8"), readFileSync(process.env.PANDO_VIEWER_PAGE, "utf8"));
});

test("bytes of a page are decoded where they are read, and checked", async () => {
  const next = random(5), whole = Buffer.from(Uint8Array.from({ length: 2 * 49152 + 100 }, () => 256 * next()));
  const pieces = () => [0, 1, 2].map((k) => whole.subarray(49152 * k, 49152 * (k + 1)).toString("base64"));
  for (const [from, to] of [[0, 12], [49150, 49155], [98303, 98404], [0, whole.length], [98404, 98404]])
    assert.deepEqual(Buffer.from(new PageBytes(whole.length, pieces()).subarray(from, to)), whole.subarray(from, to), `${from} to ${to}`);
  const first = pieces();
  first[1] = "no base64!";
  const damaged = new PageBytes(whole.length, first);
  assert.equal(damaged.subarray(0, 10).length, 10);
  assert.throws(() => damaged.subarray(49151, 49153), /does not hold the bytes 49152 to 98304/);
  const short = pieces();
  short[2] = short[2].slice(0, -4);
  assert.throws(() => new PageBytes(whole.length, short).subarray(98310, 98320), /does not hold the bytes 98304 to 98404/);
  for (const length of [NaN, -1, 49152, 10 ** 9]) assert.throws(() => new PageBytes(length, pieces()), /does not hold the report as it says/, String(length));
});
