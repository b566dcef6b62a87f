import { useMemo } from "preact/hooks";
import { css, ramp } from "../colours.ts";
import { bytes, count, plural } from "../format.ts";
import { empty_matrix, Matrix, matrix_source } from "../pictures/matrix.ts";
import { Exchange, Report } from "../report/report.ts";
import { exchange_times } from "../report/tiles.ts";
import { set, use_index, use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { AdviceList } from "../widgets/advice.tsx";
import { Choice, Empty, Facts, Link, Sources, source_column } from "../widgets/parts.tsx";
import { Picture } from "../widgets/picture.tsx";
import { Table } from "../widgets/table.tsx";

function matrix_of(report: Report, chosen: Exchange[], by_ipu: boolean): Matrix {
  const times = exchange_times(report), tiles = report.target.tiles, per_ipu = Math.max(1, report.target.tiles_per_ipu);
  let block = by_ipu ? per_ipu : Math.max(1, ...chosen.map((e) => e.block));
  while (Math.ceil(tiles / block) > 2048) block *= 2;
  const m = empty_matrix(tiles, block);
  for (const e of chosen) {
    const t = report.traffic(e.index), n = chosen.length === 1 || !report.executed ? 1 : times[e.index]!;
    for (let k = 0; k < t.from.length; ++k) {
      const from = Math.min(m.n - 1, Math.floor((t.from[k]! * e.block) / block)), to = Math.min(m.n - 1, Math.floor((t.to[k]! * e.block) / block));
      m.bytes[from * m.n + to]! += n * t.bytes[k]!;
    }
  }
  m.most = m.bytes.reduce((a, b) => Math.max(a, b), 0);
  return m;
}

function Partners({ report, exchanges, tile }: { report: Report; exchanges: Exchange[]; tile: number }) {
  const rows = useMemo(() => {
    const times = exchange_times(report), by = new Map<string, { way: string; tile: number; block: number; bytes: number; messages: number }>();
    for (const e of exchanges) {
      const t = report.traffic(e.index), n = exchanges.length === 1 || !report.executed ? 1 : times[e.index]!, own = Math.floor(tile / e.block);
      for (let k = 0; k < t.from.length; ++k) {
        for (const [mine, theirs, way] of [[t.from, t.to, "to"], [t.to, t.from, "from"]] as const) {
          if (mine[k] !== own) continue;
          const key = `${way} ${theirs[k]! * e.block} ${e.block}`, row = by.get(key) ?? { way, tile: theirs[k]! * e.block, block: e.block, bytes: 0, messages: 0 };
          (row.bytes += n * t.bytes[k]!), (row.messages += n * t.messages[k]!);
          by.set(key, row);
        }
      }
    }
    return [...by.values()];
  }, [report, exchanges, tile]);
  return (
    <>
      <h3>Tile {tile}: whom it sends to and receives from</h3>
      <Table id="partners" rows={rows} noun="partner" sort="-bytes" height={260} on_pick={(r) => set({ tile: String(r.tile) })} columns={[
        { id: "way", title: "way", value: (r) => r.way }, { id: "tile", title: "tile", value: (r) => r.tile, text: (_, r) => (r.block > 1 ? `${r.tile}–${r.tile + r.block - 1}` : `${r.tile}`) },
        { id: "bytes", title: "bytes", value: (r) => r.bytes, text: bytes, bar: true }, { id: "messages", title: "messages", value: (r) => r.messages }, { id: "each", title: "bytes of a message", value: (r) => r.bytes / Math.max(1, r.messages), text: (v) => bytes(v) },
      ]} />
    </>
  );
}

function ExchangeView({ report }: ViewProps) {
  const step = use_index("step", Number.MAX_SAFE_INTEGER), part = report.program.find((p) => p.order === step && p.exchange >= 0);
  const chosen_id = use_param("exchange", part ? String(part.exchange) : "all"), tile = use_index("tile", report.target.tiles), by_ipu = use_param("by", "tile") === "ipu" && report.target.ipus > 1;
  const chosen = useMemo(() => (chosen_id === "all" ? report.exchanges : report.exchanges.filter((e) => String(e.index) === chosen_id)), [report, chosen_id]);
  const matrix = useMemo(() => matrix_of(report, chosen, by_ipu), [report, chosen, by_ipu]);
  const source = useMemo(() => matrix_source(matrix, by_ipu ? "IPU" : "tile", `${report.file} ${chosen_id} ${by_ipu}`), [matrix]);
  if (by_ipu) (source.x_label = (x) => (Math.abs(x - Math.round(x)) < 1e-6 ? String(Math.round(x)) : "")), (source.y_label = String);
  const times = exchange_times(report), one = chosen.length === 1 ? chosen[0] : undefined, made_at = one ? report.exchange_sources(one.index) : [];
  return (
    <>
      <AdviceList report={report} only={(rule) => /exchange|copied|rearrange/.test(rule)} />
      <div class="bar">
        <Choice title="exchange" value={chosen_id} on={(v) => set({ exchange: v })} options={[{ id: "all", title: report.executed ? "all, with how often they run" : "all, each once" }, ...[...report.exchanges].sort((a, b) => b.bytes - a.bytes).slice(0, 300).map((e) => ({ id: String(e.index), title: `${e.name.slice(-70) || "exchange"} (${bytes(e.bytes)})` }))]} />
        {report.target.ipus > 1 && <Choice title="by" value={by_ipu ? "ipu" : "tile"} on={(v) => set({ by: v })} options={[{ id: "tile", title: "tile" }, { id: "ipu", title: "IPU" }]} />}
        <span class="soft">{matrix.block > 1 && !by_ipu ? `a cell is ${matrix.block} x ${matrix.block} tiles` : ""}</span>
      </div>
      <div class="split">
        <div>
          <Picture id="matrix" source={source} height={520} title="bytes from tile to tile" margin_left={56} mark={{ y: tile === undefined ? undefined : Math.floor(tile / matrix.block) }} on_pick={(_x, y) => set({ tile: String(Math.min(report.target.tiles - 1, Math.floor(y) * matrix.block)) })} />
          <div class="bar soft">
            <span style={{ display: "inline-block", width: "9rem", height: "0.8rem", background: `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map((s) => css(ramp(s))).join(",")})` }} />
            <span>1 B to {bytes(matrix.most)}, logarithmic; rows send, columns receive</span>
          </div>
        </div>
        <div>
          {one ? (
            <Facts rows={[["exchange", one.name], ["source", made_at.length > 0 ? <Sources at={made_at} /> : "not known"], ...(report.executed ? [["runs", count(times[one.index]!)] as [string, string]] : []), ["bytes between tiles", bytes(one.bytes)], ["senders, receivers", `${count(one.senders)}, ${count(one.receivers)}`],
              ["busiest receiver", <Link view="exchange" params={{ tile: String(one.busiest_tile) }}>tile {one.busiest_tile}: {bytes(one.busiest_bytes)}</Link>], ["copied within tiles", `${bytes(one.local)} in ${plural(one.copies, "run")}`]]} />
          ) : <p class="soft">All exchanges together. Choose one above or in the table below.</p>}
          {tile !== undefined ? <Partners report={report} exchanges={chosen} tile={tile} /> : <p class="soft">Choose a row to see the partners of a tile.</p>}
        </div>
      </div>
      <h3>Exchanges</h3>
      <Table id="exchanges" rows={report.exchanges} noun="exchange" sort={report.executed ? "-all" : "-bytes"} height={320} on_pick={(e) => set({ exchange: String(e.index) })} picked={(e) => String(e.index) === chosen_id} columns={[
        { id: "name", title: "name", value: (e) => e.name }, { id: "number", title: "number", value: (e) => e.index }, { id: "bytes", title: "bytes", value: (e) => e.bytes, text: bytes, bar: !report.executed },
        ...(report.executed ? [{ id: "times", title: "runs", value: (e: Exchange) => times[e.index]! }, { id: "all", title: "bytes of all runs", value: (e: Exchange) => e.bytes * times[e.index]!, text: bytes, bar: true }] : []), { id: "senders", title: "senders", value: (e) => e.senders }, { id: "receivers", title: "receivers", value: (e) => e.receivers },
        { id: "busiest", title: "busiest receives", value: (e) => e.busiest_bytes, text: (v, e) => `${bytes(v)} (tile ${e.busiest_tile})` }, { id: "local", title: "copied within tiles", value: (e) => e.local, text: bytes }, { id: "copies", title: "runs copied", value: (e) => e.copies, hidden: true }, source_column((e: { index: number }) => report.exchange_sources(e.index)),
      ]} />
      <h3>Why there are exchange buffers</h3>
      {report.buffers.length === 0 ? <Empty>Every operand lies on its vertex's tile in one piece: no exchange buffer is needed.</Empty> : (
        <Table id="buffers" rows={report.buffers} noun="cause" sort="-bytes" columns={[
          { id: "compute_set", title: "compute set", value: (b) => report.compute_sets[b.compute_set]?.name ?? "?" }, { id: "number", title: "number", value: (b) => b.compute_set }, { id: "codelet", title: "codelet", value: (b) => report.codelets[b.codelet]?.name ?? "?" },
          { id: "field", title: "field", value: (b) => b.field }, { id: "variable", title: "variable", value: (b) => b.variable }, { id: "bytes", title: "bytes", value: (b) => b.bytes, text: bytes, bar: true },
          { id: "remote", title: "from other tiles", value: (b) => b.remote, text: bytes }, { id: "pieces", title: "pieces", value: (b) => b.pieces }, { id: "each", title: "bytes of a piece", value: (b) => b.bytes / Math.max(1, b.pieces), text: bytes },
          { id: "buffers", title: "buffers", value: (b) => b.buffers, hidden: true }, { id: "tiles", title: "tiles", value: (b) => b.tiles },
        ]} />
      )}
    </>
  );
}

const view: View = { id: "exchange", title: "Exchange", order: 5, widgets: ["pictures", "tables"], missing: (r) => (["exchanges", "buffers"].some((t) => r.container.rows(t) > 0) ? undefined : "This report has no exchanges between tiles."), show: ExchangeView };
export default view;
