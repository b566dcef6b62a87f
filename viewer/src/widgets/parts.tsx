// Small parts that views share.
import { ComponentChildren } from "preact";
import { go, text_of, to, Params } from "../state.ts";

export function Link(props: { view: string; params?: Params; children: ComponentChildren; title?: string }) {
  const place = to(props.view, props.params);
  return (
    <a href={text_of(place)} title={props.title} onClick={(e) => {
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      e.stopPropagation();
      go(props.view, props.params);
    }}>
      {props.children}
    </a>
  );
}

export function Legend(props: { items: { title: string; colour: string }[] }) {
  return <div class="legend">{props.items.map((i) => <span><i style={{ background: i.colour }} />{i.title}</span>)}</div>;
}

export function Empty(props: { children: ComponentChildren }) {
  return <div class="notice empty">{props.children}</div>;
}

export function Card(props: { value: ComponentChildren; title: string; help?: string }) {
  return <div class="card" title={props.help}><b>{props.value}</b><span>{props.title}</span></div>;
}

export function Choice(props: { title: string; value: string; options: { id: string; title: string }[]; on: (id: string) => void }) {
  return (
    <label>{props.title}
      <select value={props.value} onChange={(e) => props.on(e.currentTarget.value)}>
        {props.options.map((o) => <option value={o.id} selected={o.id === props.value}>{o.title}</option>)}
      </select>
    </label>
  );
}

export function Facts(props: { rows: [string, ComponentChildren][] }) {
  return <dl class="facts">{props.rows.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>;
}

export interface At {
  file: string;
  line: number;
}
/** "net.py:12" of "models/net.py:12", which the title has. */
export function Source({ at }: { at: At }) {
  return <span title={`${at.file}:${at.line}`}>{`${at.file.replace(/^.*[\\/]/, "")}:${at.line}`}</span>;
}

/** All of them where there are few; else the first ones, and how many more. The title has all. */
export function Sources({ at }: { at: At[] }) {
  const kMost = 3;
  return (
    <span title={at.map((a) => `${a.file}:${a.line}`).join("\n")}>
      {at.slice(0, kMost).map((a) => `${a.file.replace(/^.*[\\/]/, "")}:${a.line}`).join(", ")}
      {at.length > kMost ? ` and ${at.length - kMost} more` : ""}
    </span>
  );
}

/** The column of a table that names the lines of the user's program. */
export function source_column<Row>(of: (row: Row) => At | At[] | undefined) {
  const all = (row: Row): At[] => { const at = of(row); return at === undefined ? [] : Array.isArray(at) ? at : [at]; };
  return {
    id: "source", title: "source", help: "the line of the program that made it",
    value: (row: Row) => all(row).map((a) => `${a.file}:${a.line}`).join(", "),
    cell: (row: Row) => <Sources at={all(row)} />,
  };
}
