import { useMemo } from "preact/hooks";
import { bytes, count, percent, plural, short } from "../format.ts";
import { Codelet, ProgramPart, Report } from "../report/report.ts";
import { set, use_index, use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { At, Choice, Empty, Facts, Link, Source, source_column, Sources } from "../widgets/parts.tsx";
import { Roof, Scatter } from "../widgets/scatter.tsx";
import { Table } from "../widgets/table.tsx";

interface Row {
  part: ProgramPart;
  depth: number;
  around: boolean; // whether it stands around others
  executions: number;
  cycles: number;
  vertices: number;
  exchanged: number;
  flops: number;
}

const AROUND = ["loop", "if", "switch", "case", "function"];

export function program_rows(report: Report): Row[] {
  const of_part = report.program.map(() => ({ executions: 0, cycles: 0, vertices: 0, exchanged: 0, flops: 0 }));
  for (const s of report.steps) {
    const o = of_part[s.program];
    if (!o) continue;
    // The streams take part at the same time: the longest counts.
    o.executions = Math.max(o.executions, s.executions), o.cycles = Math.max(o.cycles, s.total - s.cycles.wait), (o.vertices += s.vertices), (o.exchanged += s.exchanged), (o.flops += s.flops);
  }
  const depth: number[] = [];
  const rows = report.program.map((part, i) => {
    depth[i] = part.inside >= 0 ? (depth[part.inside] ?? 0) + 1 : 0;
    return { part, depth: depth[i]!, around: AROUND.includes(part.kind), ...of_part[i]! };
  });
  // A loop has what its parts have.
  for (let i = rows.length - 1; i >= 0; --i) {
    const outer = rows[rows[i]!.part.inside];
    if (outer) (outer.cycles += rows[i]!.cycles), (outer.vertices += rows[i]!.vertices), (outer.exchanged += rows[i]!.exchanged), (outer.flops += rows[i]!.flops), (outer.executions = Math.max(outer.executions, rows[i]!.executions));
  }
  return rows;
}

function PartDetails({ report, row }: { report: Report; row: Row }) {
  const { part } = row, cs = report.compute_sets[part.compute_set], exchange = report.exchanges[part.exchange];
  const groups = useMemo(() => {
    const by = new Map<number, { codelet: number; vertices: number; tiles: number; most: number }>();
    for (const g of cs?.groups ?? []) {
      const o = by.get(g.codelet) ?? { codelet: g.codelet, vertices: 0, tiles: 0, most: 0 };
      (o.vertices += (g.end - g.begin) * g.count), (o.tiles += g.end - g.begin), (o.most = Math.max(o.most, g.count));
      by.set(g.codelet, o);
    }
    return [...by.values()];
  }, [report, cs]);
  const step = { step: String(part.order) };
  return (
    <>
      <h3>{part.name || part.kind} <span class="soft">· {part.kind}, step {part.order}</span></h3>
      <p>
        <Link view="liveness" params={step}>what is live</Link>
        {cs && report.executed && <> · <Link view="balance" params={step}>balance</Link></>}
        {exchange && <> · <Link view="exchange" params={{ ...step, exchange: String(exchange.index) }}>exchange</Link></>}
        {report.executed && <> · <Link view="trace" params={{ find: part.name }}>in the trace</Link></>}
      </p>
      <Facts rows={[
        ["source", part.sources.length > 0 ? <Sources at={part.sources} /> : cs?.source ? <Source at={cs.source} /> : "not known"], ["executions", count(row.executions)], ["cycles", count(row.cycles)],
        ...(cs ? ([["vertices", count(cs.vertices)], ["floating-point operations", count(cs.flops)]] as [string, string][]) : []), ...(exchange ? ([["bytes between tiles", bytes(exchange.bytes)]] as [string, string][]) : []),
      ]} />
      {groups.length > 0 && (
        <Table id="groups" rows={groups} noun="codelet" height={240} sort="-vertices" on_pick={(g) => set({ tab: "codelets", codelet: String(g.codelet) }, true)} columns={[
          { id: "codelet", title: "codelet", value: (g) => report.codelets[g.codelet]?.name ?? "?" }, { id: "vertices", title: "vertices", value: (g) => g.vertices }, { id: "tiles", title: "tiles", value: (g) => g.tiles },
          { id: "most", title: "most on a tile", value: (g) => g.most },
        ]} />
      )}
    </>
  );
}

// A matrix unit and loads bound what a tile can do; a full tile does what one of its vertices does in a cycle of its own.
function roofs_of(report: Report): Roof[] {
  const t = report.target, load = t.load_bytes_per_cycle ?? 0;
  return ([["f16", t.flops_per_cycle_f16], ["f32", t.flops_per_cycle_f32]] as const).filter(([, most]) => (most ?? 0) > 0).map(([type, most]) => ({ name: `${type}: ${most} operations a cycle`, most: most!, slope: load }));
}

/** Of a step the tiles of its IPU do at most that; how fast they exchange is not in the report, so the roofs are flat. */
function roofs_of_steps(report: Report): Roof[] {
  const tiles = Math.max(1, report.target.tiles_per_ipu);
  return roofs_of(report).map((r) => ({ name: `${r.name.split(":")[0]}: ${count(r.most * tiles)} operations a cycle on ${plural(tiles, "tile")}`, most: r.most * tiles, slope: 0 }));
}

function Roofline({ report }: { report: Report }) {
  const of = use_param("roofline", "codelets"), chosen = use_index("codelet", report.codelets.length), step = use_index("step", Number.MAX_SAFE_INTEGER);
  const steps = useMemo(() => report.steps.filter((s) => s.flops > 0 && s.total > 0).map((s) => ({ x: s.flops / Math.max(1, s.exchanged), y: s.flops / Math.max(1, s.total - s.cycles.wait), size: s.total, name: s.name || s.kind, step: s })), [report]);
  const codelets = useMemo(() => report.codelets.filter((c) => c.flops > 0 && c.cycles > 0).map((c) => ({ x: c.flops / Math.max(1, c.operand_bytes), y: c.flops / c.cycles, size: c.cycles, name: c.name, codelet: c })), [report]);
  const choice = <div class="bar"><Choice title="points are" value={of} on={(v) => set({ roofline: v })} options={[{ id: "codelets", title: "codelets" }, { id: "steps", title: "steps" }]} /></div>;
  if (!(of === "steps" ? steps : codelets).length) return <>{choice}<Empty>No executed {of === "steps" ? "step" : "codelet"} says how many floating-point operations it has.</Empty></>;
  return (
    <>
      {choice}
      {of === "steps" ? (
        <><Scatter title="steps: operations per cycle by operations per exchanged byte" points={steps} roofs={roofs_of_steps(report)} x_title="floating-point operations per exchanged byte" y_title="operations per cycle, all tiles" text={(p) => `${p.name}\n${short(p.y)} operations per cycle, ${short(p.x)} per exchanged byte\n${count(p.step.total)} cycles`}
          on_pick={(p) => set({ step: String(p.step.order) })} picked={(p) => p.step.order === step} />
        <p class="soft">The roofs are what all tiles of an IPU compute at most. How fast tiles exchange is in no report, so that the roofs have no slope: a step far to the left may wait for its data however high it stands.</p></>
      ) : (
        <Scatter title="codelets: operations per cycle by operations per byte of operands" points={codelets} roofs={roofs_of(report)} x_title="floating-point operations per byte of operands" y_title="operations per cycle of a vertex"
          text={(p) => `${p.name}\n${short(p.y)} operations per cycle, ${short(p.x)} per byte of operands\n${count(p.codelet.cycles)} cycles of its vertices, ${short(p.codelet.flops)} operations`}
          on_pick={(p) => set({ codelet: String(p.codelet.index) })} picked={(p) => p.codelet.index === chosen} />
      )}
    </>
  );
}

function Operations({ report }: { report: Report }) {
  const depth = Math.min(8, Math.max(1, use_index("depth", 9) ?? 1)), rows = report.operations(depth);
  return (
    <>
      <div class="bar"><Choice title="names of a debug path" value={String(depth)} on={(v) => set({ depth: v })} options={[1, 2, 3, 4, 5, 6, 7, 8].map((d) => ({ id: String(d), title: d === 1 ? "the first" : `the first ${d}` }))} /></div>
      <Table id="operations" rows={rows} noun="operation" sort="-cycles" height={460} on_pick={(o) => set({ tab: "tree", "program.find": o.name })} columns={[
        { id: "name", title: "operation", value: (o) => o.name || "(no name)" }, { id: "cycles", title: "cycles", value: (o) => o.cycles, bar: true }, { id: "compute", title: "compute", value: (o) => o.compute }, { id: "exchange", title: "exchange", value: (o) => o.exchange },
        { id: "steps", title: "steps", value: (o) => o.steps }, { id: "executions", title: "executions", value: (o) => o.executions, hidden: true }, { id: "flops", title: "operations", value: (o) => o.flops, hidden: true },
        { id: "bytes", title: "memory", value: (o) => o.bytes, text: bytes }, source_column((o: { sources: At[] }) => o.sources),
      ]} />
      <p class="soft">Choose an operation to see its steps.</p>
    </>
  );
}

function Program({ report }: ViewProps) {
  const tab = use_param("tab", "tree"), order = use_index("step", Number.MAX_SAFE_INTEGER), folded = use_param("folded").split(",").filter(Boolean).map(Number), code = use_index("codelet", report.codelets.length);
  const all = useMemo(() => program_rows(report), [report]);
  const rows = useMemo(() => {
    const hidden = new Set<number>();
    return all.filter((r, i) => {
      if (r.part.inside >= 0 && (hidden.has(r.part.inside) || folded.includes(r.part.inside))) hidden.add(i);
      return !hidden.has(i);
    });
  }, [all, folded.join()]);
  const chosen = all.find((r) => r.part.order === order && !r.around) ?? all.find((r) => r.part.order === order);
  const cycles = Math.max(1, all.reduce((n, r) => n + (r.depth === 0 ? r.cycles : 0), 0));
  const tabs: [string, string][] = [["tree", "steps"], ["compute-sets", "compute sets"], ["codelets", "codelets"], ["vertices", "vertices"], ["operations", "operations"], ["roofline", "roofline"]];
  return (
    <>
      <div class="bar" role="tablist">{tabs.map(([id, title]) => <button role="tab" aria-selected={tab === id} aria-pressed={tab === id} onClick={() => set({ tab: id })}>{title}</button>)}</div>
      {tab === "tree" && (
        <Table id="program" rows={rows} noun="step" height={460} on_pick={(r) => set({ step: String(r.part.order) })} picked={(r) => r === chosen} columns={[
          { id: "order", title: "order", value: (r) => r.part.order },
          { id: "name", title: "step", value: (r) => r.part.name || r.part.kind, cell: (r) => (
            <span style={{ paddingLeft: `${r.depth * 1.3}rem` }}>
              {r.around ? <button aria-expanded={!folded.includes(r.part.index)} style={{ border: 0, padding: "0 0.2rem", background: "none" }} onClick={(e) => { e.stopPropagation(); set({ folded: (folded.includes(r.part.index) ? folded.filter((f) => f !== r.part.index) : [...folded, r.part.index]).join(",") }); }}>{folded.includes(r.part.index) ? "▸" : "▾"} {r.part.kind} {r.part.name}</button> : r.part.name || r.part.kind}
            </span>) },
          { id: "kind", title: "kind", value: (r) => r.part.kind }, { id: "executions", title: "executions", value: (r) => r.executions, hidden: !report.executed }, { id: "cycles", title: "cycles", value: (r) => r.cycles, bar: true, hidden: !report.executed },
          { id: "share", title: "share", value: (r) => r.cycles / cycles, text: percent, hidden: true }, { id: "vertices", title: "vertices", value: (r) => r.vertices || (report.compute_sets[r.part.compute_set]?.vertices ?? 0) }, { id: "exchanged", title: "exchanged", value: (r) => r.exchanged, text: bytes, hidden: !report.executed },
          { id: "flops", title: "operations", value: (r) => r.flops, hidden: true }, source_column((r: { part: { sources: At[] } }) => r.part.sources),
        ]} />
      )}
      {tab === "compute-sets" && (
        <Table id="sets" rows={report.compute_sets} noun="compute set" sort="-vertices" height={460} on_pick={(c) => { const p = report.program.find((q) => q.compute_set === c.index); if (p) set({ step: String(p.order) }); }} columns={[
          { id: "name", title: "compute set", value: (c) => c.name }, { id: "vertices", title: "vertices", value: (c) => c.vertices, bar: true }, { id: "codelets", title: "codelets", value: (c) => [...new Set(c.groups.map((g) => report.codelets[g.codelet]?.name ?? "?"))].join(", ") },
          { id: "tiles", title: "tiles", value: (c) => { const t = new Set<number>(); for (const g of c.groups) for (let k = g.begin; k < g.end; ++k) t.add(k); return t.size; } }, { id: "flops", title: "operations", value: (c) => c.flops }, source_column((c: { source: At | undefined }) => c.source),
        ]} />
      )}
      {tab === "codelets" && (
        <>
          <Table id="codelets" rows={report.codelets} noun="codelet" sort="-cycles" height={code === undefined ? 460 : 240} on_pick={(c) => set({ codelet: String(c.index) })} picked={(c) => c.index === code} columns={[
            { id: "name", title: "codelet", value: (c) => c.name }, { id: "vertices", title: "vertices", value: (c) => c.vertices }, { id: "executions", title: "executions", value: (c) => c.executions }, { id: "cycles", title: "cycles, added up", value: (c) => c.cycles, bar: true },
            { id: "each", title: "cycles of one", value: (c) => Math.round(c.cycles / Math.max(1, c.executions)) }, { id: "estimated", title: "cycles are known", value: (c) => (c.estimated ? "yes" : "no: some vertices have no estimate") },
            { id: "flops", title: "operations", value: (c) => c.flops, hidden: true }, { id: "operands", title: "bytes of operands", value: (c) => c.operand_bytes, text: bytes, hidden: true }, { ...source_column((c: { defined: At | undefined }) => c.defined), id: "defined", title: "defined", help: "the line of its class or, in assembly, of its label" },
          ]} />
          {code === undefined ? <p class="soft">Choose a codelet to see its source with cycles by line.</p> : <CodeletSource report={report} codelet={report.codelets[code]!} />}
        </>
      )}
      {tab === "vertices" && <Vertices report={report} />}
      {tab === "operations" && <Operations report={report} />}
      {tab === "roofline" && <Roofline report={report} />}
      {chosen ? <PartDetails report={report} row={chosen} /> : /^(tree|compute-sets)$/.test(tab) && <p class="soft">Choose {tab === "tree" ? "a step" : "a compute set"} to see what it does and where it leads.</p>}
    </>
  );
}

/** Why a codelet has no cycles by line. */
export function why_no_lines(c: Codelet): string {
  if (!c.executions) return "None of its vertices was executed.";
  if (c.source.includes("not counted")) return `Its cycles are not known (${c.source}).`;
  if (c.source.includes("counted instructions")) return "It is assembly: C++ codelets have cycles by line.";
  if (!c.source.includes("counted")) return "Its cycles are an estimate of the program or of its library, which has no lines.";
  return "It was compiled without lines: compile it with popc -g, or give addCodelets the flag -g.";
}

function CodeletSource({ report, codelet }: { report: Report; codelet: Codelet }) {
  const lines = report.codelet_lines(codelet.index);
  if (!lines.length) return <Empty>{codelet.name} has no cycles by line. {why_no_lines(codelet)}</Empty>;
  const total = Math.max(1, codelet.cycles);
  return (
    <>
      <h3>{codelet.name} <span class="soft">· cycles of all {count(codelet.executions)} executed vertices by line</span></h3>
      <Table id="lines" rows={lines} noun="line" height={420} columns={[
        { id: "line", title: "line", value: (l) => l.line, text: String }, { id: "cycles", title: "cycles", value: (l) => l.cycles, bar: true, text: (n) => (n ? count(n) : "") },
        { id: "share", title: "share", value: (l) => l.cycles / total, text: (n) => (n ? percent(n) : "") }, { id: "text", title: "source", value: (l) => l.text, cell: (l) => <code style={{ whiteSpace: "pre" }}>{l.text}</code> },
        { id: "file", title: "file", value: (l) => l.file, cell: (l) => <Source at={l} />, hidden: lines[0]!.file === lines.at(-1)!.file },
      ]} />
    </>
  );
}

function Vertices({ report }: { report: Report }) {
  const tile = use_index("tile", report.target.tiles);
  const rows = useMemo(() => report.compute_sets.flatMap((c) => c.groups.filter((g) => tile === undefined || (tile >= g.begin && tile < g.end)).map((g) => ({ ...g, set: c.name, source: c.source, vertices: g.count * (tile === undefined ? g.end - g.begin : 1) }))), [report, tile]);
  return (
    <>
      <div class="bar">
        <label>tile <input type="number" min={0} max={report.target.tiles - 1} value={tile ?? ""} placeholder="all" style={{ width: "7rem" }} onInput={(e) => set({ tile: e.currentTarget.value })} /></label>
        {tile !== undefined && <button onClick={() => set({ tile: "" })}>all tiles</button>}
      </div>
      <p class="soft">{tile === undefined ? "Vertices of all tiles, in ranges of tiles that have the same number." : <>Vertices of tile {tile}.</>} {plural(rows.reduce((n, r) => n + r.vertices, 0), "vertex", "vertices")}.</p>
      <Table id="vertices" rows={rows} noun="group" sort="-vertices" height={460} columns={[
        { id: "codelet", title: "codelet", value: (g) => report.codelets[g.codelet]?.name ?? "?" }, { id: "set", title: "compute set", value: (g) => g.set }, { id: "tiles", title: "tiles", value: (g) => (g.end - g.begin > 1 ? `${g.begin}–${g.end - 1}` : `${g.begin}`) },
        { id: "count", title: "on each tile", value: (g) => g.count }, { id: "vertices", title: "vertices", value: (g) => g.vertices, bar: true }, source_column((g: { source: At | undefined }) => g.source),
      ]} />
    </>
  );
}

const view: View = { id: "program", title: "Program", order: 7, widgets: ["points", "tables"], missing: (r) => (["program", "compute_sets", "codelets"].some((t) => r.container.rows(t) > 0) ? undefined : "This report has no program."), show: Program };
export default view;
