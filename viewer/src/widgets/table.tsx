// A table that sorts, filters, chooses columns and exports; it draws only the rows that are seen.
import { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../format.ts";
import { set, use_param } from "../state.ts";
import { save } from "./save.ts";

export interface Column<Row> {
  id: string;
  title: string;
  value: (row: Row) => number | string;
  /** How people read a number; a string is itself. */
  text?: (value: any, row: Row) => string;
  /** Instead of a text. */
  cell?: (row: Row) => ComponentChildren;
  help?: string;
  hidden?: boolean;
  /** The cell shows the number as a bar, too: its share of the greatest. */
  bar?: boolean;
}

interface Props<Row> {
  /** Its state is in the fragment under `id`.sort and so on. */
  id: string;
  rows: readonly Row[];
  columns: Column<Row>[];
  /** A column's id; "-id": the greatest first. */
  sort?: string;
  height?: number;
  on_pick?: (row: Row) => void;
  picked?: (row: Row) => boolean;
  noun?: string;
  /** Texts are read whole, in as many lines as they need: for few rows. */
  wrap?: boolean;
}

const kRow = 26;
// Browsers end near 2^25 pixels: a table of more rows is scrolled in larger steps.
const kMaxHeight = 16e6;

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b);
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

export function csv_of<Row>(rows: readonly Row[], columns: Column<Row>[]): string {
  const cell = (v: number | string) => (/[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
  return [columns.map((c) => cell(c.title)), ...rows.map((r) => columns.map((c) => cell(c.value(r))))].map((l) => l.join(",")).join("\n") + "\n";
}

export function Table<Row>(props: Props<Row>) {
  const { id, rows, columns } = props;
  const sort = use_param(`${id}.sort`, props.sort ?? "");
  const filter = use_param(`${id}.find`);
  const chosen_text = use_param(`${id}.columns`);
  const chosen = chosen_text ? chosen_text.split(",") : columns.filter((c) => !c.hidden).map((c) => c.id);
  const shown = columns.filter((c) => chosen.includes(c.id));
  const found = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = columns.filter((c) => rows.length && typeof c.value(rows[0]!) === "string");
    const kept = words.length ? rows.filter((r) => { const all = texts.map((c) => c.value(r)).join("\n").toLowerCase(); return words.every((w) => all.includes(w)); }) : rows.slice();
    const by = columns.find((c) => c.id === sort.replace(/^-/, ""));
    if (by) {
      const sign = sort.startsWith("-") ? -1 : 1;
      const keyed = kept.map((row, i) => ({ row, i, key: by.value(row) }));
      keyed.sort((a, b) => sign * compare(a.key, b.key) || a.i - b.i);
      return keyed.map((k) => k.row);
    }
    return kept;
  }, [rows, columns, filter, sort]);
  const most = useMemo(() => new Map(columns.filter((c) => c.bar).map((c) => [c.id, rows.reduce((m, r) => Math.max(m, Number(c.value(r)) || 0), 0)])), [rows, columns]);

  const box = useRef<HTMLDivElement>(null);
  const [top, set_top] = useState(0);
  const [cursor, set_cursor] = useState(-1);
  useEffect(() => set_cursor(-1), [found]);
  const height = Math.min(props.height ?? 420, (found.length + 1) * kRow + 22);
  const whole = found.length * kRow, scrolled = Math.min(whole, kMaxHeight);
  const stretch = scrolled > height ? (whole - height) / (scrolled - height) : 1;
  const first = props.wrap ? 0 : Math.max(0, Math.floor((top * stretch) / kRow) - 4), last = props.wrap ? found.length : Math.min(found.length, first + Math.ceil(height / kRow) + 10);
  const offset = Math.min(scrolled, Math.max(0, stretch === 1 ? first * kRow : top));
  const bring_into_view = (row: number) => {
    const b = box.current;
    if (row < 0 || !b) return;
    if (props.wrap) return b.querySelector(`[aria-rowindex="${row + 1}"]`)?.scrollIntoView({ block: "nearest" });
    const y = (row * kRow) / stretch;
    if (y < b.scrollTop) b.scrollTop = y;
    else if (y + 2 * kRow > b.scrollTop + b.clientHeight - 16) b.scrollTop = y + 2 * kRow - b.clientHeight + 16;
  };
  useLayoutEffect(() => bring_into_view(cursor), [cursor]);
  // What a link or another view has chosen is seen, too.
  const picked = props.picked ? found.findIndex(props.picked) : -1;
  useLayoutEffect(() => bring_into_view(picked), [picked]);
  const key = (e: KeyboardEvent) => {
    if (e.target !== box.current) return;
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 12, PageUp: -12 }[e.key];
    if (step !== undefined) set_cursor(Math.min(found.length - 1, Math.max(0, cursor + step)));
    else if (e.key === "Home") set_cursor(0);
    else if (e.key === "End") set_cursor(found.length - 1);
    else if (e.key === "Enter" && cursor >= 0 && props.on_pick) props.on_pick(found[cursor]!);
    else return;
    e.preventDefault();
  };
  const number = (c: Column<Row>) => rows.length > 0 && typeof c.value(rows[0]!) === "number";
  const text = (c: Column<Row>, r: Row) => {
    const v = c.value(r);
    return c.text ? c.text(v, r) : typeof v === "number" ? v.toLocaleString("en-GB").replaceAll(",", " ") : v;
  };
  const toggle = (column: string) => {
    const next = chosen.includes(column) ? chosen.filter((c) => c !== column) : columns.map((c) => c.id).filter((c) => c === column || chosen.includes(c));
    if (next.length) set({ [`${id}.columns`]: next.join(",") });
  };
  return (
    <div>
      <div class="bar">
        <input type="search" class="find" placeholder="find" aria-label={`find in ${props.noun ?? "rows"}`} value={filter}
          onInput={(e) => set({ [`${id}.find`]: e.currentTarget.value })} />
        <span class="soft">{found.length === rows.length ? plural(rows.length, props.noun ?? "row") : `${found.length} of ${plural(rows.length, props.noun ?? "row")}`}</span>
        <span style={{ flex: 1 }} />
        <details class="choose">
          <summary>columns</summary>
          <div>
            {columns.map((c) => (
              <label title={c.help}>
                <input type="checkbox" checked={chosen.includes(c.id)} onChange={() => toggle(c.id)} /> {c.title}
              </label>
            ))}
          </div>
        </details>
        <button onClick={() => save(`${id}.csv`, "text/csv", csv_of(found, shown))}>CSV</button>
      </div>
      <div class={props.wrap ? "table wrap" : "table"} ref={box} tabIndex={0} style={props.wrap ? { maxHeight: `${props.height ?? 420}px` } : { height: `${height}px` }} onScroll={(e) => set_top(e.currentTarget.scrollTop)} onKeyDown={key}>
        <table aria-rowcount={found.length}>
          <thead>
            <tr>
              {shown.map((c) => {
                const down = sort === `-${c.id}`, up = sort === c.id;
                return (
                  <th class={number(c) ? "number" : ""} title={c.help} aria-sort={down ? "descending" : up ? "ascending" : "none"}>
                    <button onClick={() => set({ [`${id}.sort`]: number(c) ? (down ? c.id : `-${c.id}`) : up ? `-${c.id}` : c.id })}>
                      {c.title}
                      {down ? " ▾" : up ? " ▴" : ""}
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {offset > 0 && <tr style={{ height: `${offset}px` }} />}
            {found.slice(first, last).map((r, i) => (
              <tr aria-rowindex={first + i + 1} aria-selected={first + i === cursor || (props.picked?.(r) ?? false)} style={props.on_pick ? { cursor: "pointer" } : undefined}
                onClick={() => (set_cursor(first + i), props.on_pick?.(r))}>
                {shown.map((c) => {
                  const t = c.cell ? "" : text(c, r);
                  return (
                    <td class={(number(c) ? "number" : "") + (c.bar ? " share" : "")} title={t.length > 24 ? t : undefined}
                      style={c.bar ? { "--share": String((Number(c.value(r)) || 0) / (most.get(c.id) || 1)) } : undefined}>
                      {c.cell ? c.cell(r) : t}
                    </td>
                  );
                })}
              </tr>
            ))}
            {scrolled - offset - (last - first) * kRow > 0 && <tr style={{ height: `${scrolled - offset - (last - first) * kRow}px` }} />}
          </tbody>
        </table>
        {found.length === 0 && <p class="soft" style={{ padding: "0 0.6rem" }}>{rows.length ? "Nothing matches." : "There are none."}</p>}
      </div>
    </div>
  );
}
