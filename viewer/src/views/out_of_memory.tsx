import { useMemo } from "preact/hooks";
import { bytes, count, plural } from "../format.ts";
import { at_step, fullest_order } from "../pictures/address_map.ts";
import { use_index } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { AdviceList } from "../widgets/advice.tsx";
import { At, Link, source_column } from "../widgets/parts.tsx";
import { Table } from "../widgets/table.tsx";
import { PeakByCategory } from "./liveness.tsx";
import { AddressMap } from "./memory.tsx";

function OutOfMemory({ report }: ViewProps) {
  const limit = report.target.bytes_per_tile, peak = report.peak;
  const over = useMemo(() => [...report.tile_with_gaps].map((b, tile) => ({ tile, bytes: b, used: report.tile_used[tile]!, over: b - limit })).filter((t) => limit > 0 && t.over > 0), [report]);
  const worst = over.reduce((m, t) => (t.over > (m?.over ?? 0) ? t : m), undefined as (typeof over)[0] | undefined);
  const tile = use_index("tile", report.tiles) ?? worst?.tile ?? peak?.tile, chosen = use_index("step", Number.MAX_SAFE_INTEGER);
  const fullest = useMemo(() => (tile === undefined || !report.has_allocations ? undefined : fullest_order(report, report.allocations(tile))), [report, tile]), order = chosen ?? fullest ?? peak?.order;
  const change = report.advice.find((a) => a.rule === "out_of_memory");
  const residents = useMemo(() => {
    if (tile === undefined || order === undefined || !report.has_allocations) return [];
    const by = new Map<number, number>();
    for (const a of at_step(report, report.allocations(tile), order).live) by.set(a.variable, (by.get(a.variable) ?? 0) + a.size);
    return [...by].map(([v, b]) => ({ v: report.variables[v]!, bytes: b }));
  }, [report, tile, order]);
  return (
    <>
      <div class="advice" style={{ borderLeftColor: "var(--bad)", whiteSpace: "pre-wrap" }}>{report.out_of_memory}</div>
      {worst && <p>{plural(over.length, "tile")} of {count(report.tiles)} {over.length === 1 ? "does" : "do"} not fit into {bytes(limit)}; the fullest is <Link view="out-of-memory" params={{ tile: String(worst.tile) }}>tile {worst.tile}</Link> with {bytes(worst.bytes)}, {bytes(worst.over)} too many.</p>}
      {change && change.text !== "" && (
        <div class="advice">
          <p><b>{change.text}</b></p>
          {change.evidence.length > 0 && <ul style={{ margin: "0.2rem 0" }}>{change.evidence.map((e) => <li>{e.text}{e.links.map((l) => <> · <Link view={l.view} params={l.params}>{l.title}</Link></>)}</li>)}</ul>}
        </div>
      )}
      <AdviceList report={report} only={(rule) => rule !== "out_of_memory"} />
      {tile !== undefined && order !== undefined && (
        <>
          <h3>The largest residents of tile {tile} at step {order}</h3>
          {residents.length > 0 ? (
            <Table id="residents" rows={residents} noun="resident" sort="-bytes" height={300} columns={[
              { id: "name", title: "what", value: (r) => r.v.name || "(no name)" }, { id: "category", title: "category", value: (r) => report.category_name(r.v.category) }, { id: "bytes", title: "bytes on this tile", value: (r) => r.bytes, text: bytes, bar: true }, { id: "tiles", title: "tiles that have a part", value: (r) => r.v.tiles },
              { id: "alive", title: "live until", value: (r) => (r.v.always > 0 && r.v.last === 0 ? "always" : `step ${Math.max(0, r.v.last - 1)}`) }, source_column((r: { v: { source: At | undefined } }) => r.v.source),
            ]} />
          ) : <p class="soft">The report has no address map of this tile.</p>}
          {report.has_allocations && <><h3>Where the bytes of all tiles are at that step</h3><PeakByCategory report={report} order={order} /><h3>Address map of tile {tile}</h3><AddressMap report={report} tile={tile} order={order} /></>}
        </>
      )}
      {over.length > 0 && (
        <>
          <h3>Tiles that do not fit</h3>
          <Table id="over" rows={over} noun="tile" sort="-over" height={300} columns={[
            { id: "tile", title: "tile", value: (t) => t.tile, cell: (t) => <Link view="out-of-memory" params={{ tile: String(t.tile) }}>{t.tile}</Link> }, { id: "bytes", title: "needed, with gaps", value: (t) => t.bytes, text: bytes }, { id: "used", title: "in use at the fullest step", value: (t) => t.used, text: bytes }, { id: "over", title: "too many", value: (t) => t.over, text: bytes, bar: true },
          ]} />
        </>
      )}
    </>
  );
}

const view: View = { id: "out-of-memory", title: "Out of memory", order: 10, widgets: ["pictures", "tables"], missing: (r) => (r.out_of_memory ? undefined : "The program fits: no tile is out of memory."), show: OutOfMemory };
export default view;
