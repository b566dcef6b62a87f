import { useMemo } from "preact/hooks";
import { category_colour, kLimit } from "../colours.ts";
import { bytes, count, percent, short_bytes } from "../format.ts";
import { address_source, at_step, orders_end } from "../pictures/address_map.ts";
import { Report } from "../report/report.ts";
import { tile_busy, tile_idle, tile_traffic } from "../report/tiles.ts";
import { set, use_index, use_param } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { At, Choice, Empty, Facts, Legend, Link, source_column } from "../widgets/parts.tsx";
import { Picture } from "../widgets/picture.tsx";
import { Line, Plot } from "../widgets/plot.tsx";
import { Table } from "../widgets/table.tsx";
import { TileMap } from "../widgets/tile_map.tsx";

const kColours: { id: string; title: string; executed?: boolean; values: (r: Report) => ArrayLike<number>; text: (v: number) => string }[] = [
  { id: "used", title: "memory in use", values: (r) => r.tile_used, text: bytes },
  { id: "gaps", title: "memory with gaps", values: (r) => r.tile_with_gaps, text: bytes },
  { id: "always", title: "always live", values: (r) => r.tile_always_live, text: bytes },
  { id: "cycles", title: "cycles of compute", executed: true, values: tile_busy, text: (v) => `${count(v)} cycles` },
  { id: "idle", title: "idle while others compute", executed: true, values: tile_idle, text: (v) => `${count(v)} cycles` },
  { id: "received", title: "bytes received", values: (r) => tile_traffic(r, false), text: bytes },
  { id: "sent", title: "bytes sent", values: (r) => tile_traffic(r, true), text: bytes },
];

export function AddressMap({ report, tile, order }: { report: Report; tile: number; order: number | undefined }) {
  const allocations = useMemo(() => report.allocations(tile), [report, tile]);
  const source = useMemo(() => address_source(report, allocations), [report, allocations]);
  const at = order ?? report.peak?.order ?? 0;
  const now = useMemo(() => at_step(report, allocations, at), [allocations, at]);
  const largest = now.holes.reduce((m, h) => Math.max(m, h.size), 0), limit = report.target.bytes_per_tile;
  const used_categories = [...new Set(allocations.map((a) => report.variables[a.variable]?.category ?? 0))].sort((a, b) => a - b);
  if (!allocations.length) return <Empty>Nothing lies in the memory of tile {tile}.</Empty>;
  return (
    <>
      <Legend items={used_categories.map((k) => ({ title: report.category_name(k), colour: category_colour(report.category_name(k)) }))} />
      <Picture id="map" source={source} height={360} title={`memory of tile ${tile}: address by step`} margin_left={70} mark={{ x: at + 0.5 }} on_pick={(x) => set({ step: String(Math.max(0, Math.floor(x))) })} />
      <h3>Tile {tile} at step {at}</h3>
      <Facts rows={[
        ["in use", `${bytes(now.used)}${limit ? ` of ${bytes(limit)}` : ""}`], ["highest address", bytes(now.top)],
        ["holes below it", bytes(now.top - now.used)], ["largest free piece", limit ? bytes(largest) : "unbounded"],
      ]} />
      <Table id="at" rows={now.live} noun="piece" sort="-size" height={320} on_pick={(a) => set({ variable: String(a.variable) })} columns={[
        { id: "name", title: "what", value: (a) => report.variables[a.variable]?.name ?? "?" },
        { id: "category", title: "category", value: (a) => report.category_name(report.variables[a.variable]?.category ?? 0) },
        { id: "offset", title: "address", value: (a) => a.offset, text: (v) => `0x${v.toString(16)}` },
        { id: "size", title: "bytes", value: (a) => a.size, text: bytes, bar: true },
        { id: "live", title: "live", value: (a) => (a.live === 0 ? "always" : [...(report.live_intervals(a.live) ?? [])].reduce((s, n, k) => s + (k % 2 ? `–${n - 1}` : `${s ? ", " : ""}${n}`), "")) },
        { id: "estimated", title: "size", value: (a) => (a.estimated ? "estimate" : "exact"), hidden: true },
      ]} />
    </>
  );
}

function Memory({ report }: ViewProps) {
  const tiles = report.tiles, limit = report.target.bytes_per_tile;
  const tile = use_index("tile", tiles) ?? (tiles === 1 ? 0 : undefined), order = use_index("step", orders_end(report)), variable = use_index("variable", report.variables.length);
  const also = use_param("also").split(",").filter(Boolean).map(Number).filter((t) => Number.isInteger(t) && t >= 0 && t < tiles);
  const colour = kColours.find((c) => c.id === use_param("colour", "used")) ?? kColours[0]!, chip = use_param("layout", "order") === "chip", what = use_param("plot", "categories");
  const chosen = [...(tile === undefined ? [] : [tile]), ...also];
  const pick = (t: number, more: boolean) => set(more && tile !== undefined ? { also: [...also.filter((a) => a !== t), ...(also.includes(t) ? [] : [t])].join(",") } : { tile: String(t), also: "" });
  const present = report.categories.map((c, k) => ({ c, k })).filter(({ k }) => report.tile_by_category[k]!.some((b) => b > 0));
  const lines = useMemo((): Line[] => {
    const out: Line[] = what === "variable" && variable !== undefined
      ? [{ title: report.variables[variable]!.name, colour: category_colour(report.category_name(report.variables[variable]!.category)), values: report.variable_over_tiles(variable) }]
      : present.map(({ c, k }) => ({ title: c.name, colour: category_colour(c.name), values: report.tile_by_category[k]! }));
    if (what !== "variable") out.push({ title: "with gaps", colour: "#888888", values: report.tile_with_gaps, alone: true, dash: [4, 3] });
    const fullest = report.tile_with_gaps.reduce((m, b) => Math.max(m, b), 0);
    if (limit > 0 && fullest > 0.3 * limit && what !== "variable") out.push({ title: "limit", colour: kLimit, values: new Float64Array(tiles).fill(limit), alone: true });
    return out;
  }, [report, what, variable]);
  const values = colour.values(report);
  return (
    <>
      <div class="bar">
        {tiles > 1 && <Choice title="lines" value={what} on={(v) => set({ plot: v })} options={[{ id: "categories", title: "stacked by category" }, { id: "variable", title: variable === undefined ? "one variable (choose one below)" : `variable ${report.variables[variable]!.name.slice(-40)}` }]} />}
        {limit > 0 && <span class="soft">a tile has {bytes(limit)}; the fullest one uses {percent(report.tile_with_gaps.reduce((m, b) => Math.max(m, b), 0) / limit)}</span>}
      </div>
      {tiles > 1 ? <Plot id="memory-tiles" title="memory by tile" lines={lines} stacked={what !== "variable"} steps x_title="tile" text={short_bytes} mark={tile} on_pick={(t) => set({ tile: String(t) })} /> : null}
      <h3>Tiles</h3>
      <div class="bar">
        <Choice title="colour" value={colour.id} on={(v) => set({ colour: v })} options={kColours.filter((c) => !c.executed || report.executed).map(({ id, title }) => ({ id, title }))} />
        <Choice title="layout" value={chip ? "chip" : "order"} on={(v) => set({ layout: v })} options={[{ id: "order", title: "in order" }, ...(report.fabric ? [{ id: "chip", title: "as on the chip" }] : [])]} />
        {!report.fabric && <span class="soft">the machine's description has no layout</span>}
      </div>
      <TileMap report={report} values={values} text={colour.text} title={`tiles by ${colour.title}`} chip={chip && !!report.fabric} selected={chosen} on_pick={pick} {...(colour.id === "used" || colour.id === "gaps" || colour.id === "always" ? { most: Math.max(limit && Array.prototype.some.call(values, (v: number) => v > 0.3 * limit) ? limit : 0, Array.prototype.reduce.call(values, (m: any, v: any) => Math.max(m, v), 0) as number) } : {})} />
      {(chosen.length > 1 || tiles === 1) && (
        <>
          <h3>{tiles === 1 ? "By category" : "Compared"}</h3>
          <Table id="compared" noun="category" rows={present} height={320} columns={[
            { id: "category", title: "category", value: (r: { c: { name: string }; k: number }) => r.c.name },
            ...chosen.map((t) => ({ id: `t${t}`, title: `tile ${t}`, value: (r: { k: number }) => report.tile_by_category[r.k]![t]!, text: bytes })),
          ]} />
        </>
      )}
      {!report.has_allocations ? <Empty>This report has no address map.</Empty>
        : tile === undefined ? <p class="soft">Choose a tile to see what lies where in its memory{report.peak && <>, for example the fullest one: <Link view="memory" params={{ tile: String(report.peak.tile), step: String(report.peak.order) }}>tile {report.peak.tile}</Link></>}.</p>
        : <><h3>Address map of tile {tile}</h3><AddressMap report={report} tile={tile} order={order} /></>}
      <h3>What has memory</h3>
      <Table id="variables" rows={report.variables} noun="variable" sort="-bytes" on_pick={(v) => set({ variable: String(v.index), plot: "variable" })} picked={(v) => v.index === variable} columns={[
        { id: "name", title: "name", value: (v) => v.name || "(no name)" },
        { id: "category", title: "category", value: (v) => report.category_name(v.category) },
        { id: "bytes", title: "bytes", value: (v) => v.bytes, text: bytes, bar: true },
        { id: "tiles", title: "tiles", value: (v) => v.tiles },
        { id: "largest", title: "most on a tile", value: (v) => v.largest, text: bytes },
        { id: "always", title: "always live", value: (v) => v.always, text: bytes, hidden: true },
        { id: "first", title: "first step", value: (v) => v.first, hidden: true },
        { id: "last", title: "last step", value: (v) => Math.max(0, v.last - 1), hidden: true },
        source_column((v: { source: At | undefined }) => v.source),
      ]} />
    </>
  );
}

const view: View = { id: "memory", title: "Memory", order: 2, widgets: ["lines", "tiles", "pictures", "tables"], missing: (r) => (r.tiles === 0 ? "This report holds no memory: no program was compiled." : undefined), show: Memory };
export default view;
