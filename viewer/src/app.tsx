// The frame: navigation, keys, help, theme. What it shows is a view (views/).
import { Component, ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import views from "views";
import { ReportError } from "./report/container.ts";
import { Report } from "./report/report.ts";
import { current, go, text_of, to, use_place } from "./state.ts";
import { View, Widget } from "./view.ts";
import { Empty } from "./widgets/parts.tsx";

const ordered: View[] = [...views].sort((a, b) => a.order - b.order);
const kNumbers = "1234567890";

class Guard extends Component<{ children: ComponentChildren; name: string }, { error?: unknown }> {
  override componentDidCatch(error: unknown) {
    if (!(error instanceof ReportError)) console.error(error);
    this.setState({ error });
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    if (this.state.error instanceof ReportError)
      return (
        <Empty>
          <b>This part of the report cannot be read.</b>
          <p>{this.state.error.message}</p>
          <p>The other views show what can be read.</p>
        </Empty>
      );
    return (
      <Empty>
        <b>The view “{this.props.name}” failed.</b>
        <p>{String((this.state.error as Error)?.message ?? this.state.error)}</p>
        <p>The other views still work. Please report this, with the report file if you can share it.</p>
      </Empty>
    );
  }
}

function Help(props: { view: View; close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  const rows: [string, string][] = [
    ["1 … 9, 0", "go to a view"],
    ["[  ]", "the view before, the view after"],
    ["/", "find: the search field of the view"],
    ["t", "light or dark"],
    ["m", "to what the view shows (then Tab from widget to widget)"],
    ["?", "this help; Esc closes it"],
  ];
  const pictures: [string, string][] = [
    ["a d, A D", "pan left and right; up and down"],
    ["w s, W S", "zoom in x; in y (+ and − as w and s)"],
    ["← → ↑ ↓", "move the cross to the next thing (Shift: by ten)"],
    ["Enter", "choose what stands under the cross; Esc takes the cross away"],
    ["0", "show all"],
    ["mouse", "drag pans, wheel zooms (Shift: in y), click chooses, double click shows all"],
  ];
  const lines: [string, string][] = [
    ["← →", "move the cursor (Shift: by ten)"],
    ["Enter", "choose the place of the cursor"],
    ["a d, w s", "pan; zoom"],
    ["0", "show all"],
    ["mouse", "drag over a part zooms into it, click chooses, double click shows all"],
  ];
  const tiles: [string, string][] = [["← → ↑ ↓", "to the next tile"], ["Enter", "choose it (Shift: compare it, too)"], ["mouse", "click chooses, Shift+click compares"]];
  const points: [string, string][] = [["← → ↑ ↓", "from point to point"], ["Enter", "choose it"]];
  const tables: [string, string][] = [["↑ ↓ j k", "next row (Page up and down, Home, End)"], ["Enter", "open the row"], ["Tab", "to the headers: Enter sorts"]];
  const of: Record<Widget, [string, [string, string][]]> = {
    pictures: ["Pictures of time, traffic and addresses", pictures], lines: ["Lines", lines], tiles: ["Maps of tiles", tiles], points: ["Points", points], tables: ["Tables", tables],
  };
  const table = (title: string, keys: [string, string][]) => (
    <>
      <h3>{title}</h3>
      <table>{keys.map(([k, what]) => <tr><td><kbd>{k}</kbd></td><td>{what}</td></tr>)}</table>
    </>
  );
  return (
    <dialog ref={box} onClose={props.close} onClick={(e) => e.target === box.current && box.current?.close()}>
      <h2>Keys <button style={{ float: "right", fontSize: "0.9rem", fontWeight: 400 }} onClick={() => box.current?.close()}>close</button></h2>
      {table("Everywhere", rows)}
      {props.view.keys && table(`The view ${props.view.title}`, props.view.keys)}
      {props.view.widgets.map((w) => table(...of[w]))}
    </dialog>
  );
}

function stored_theme(): string | undefined {
  try {
    return localStorage.getItem("pando-theme") ?? undefined;
  } catch {
    return undefined; // file:// in some browsers has no storage
  }
}
export function start_theme() {
  const dark = stored_theme() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset["theme"] = dark;
}
function turn_theme() {
  const now = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = now;
  try {
    localStorage.setItem("pando-theme", now);
  } catch { /* it lasts as long as the page */ }
}

// Why a view has nothing to show. A part that cannot be read is the view's to say.
function missing_of(view: View, report: Report, other: Report | undefined): string | undefined {
  try {
    return view.missing(report, other);
  } catch (error) {
    if (error instanceof ReportError) return undefined;
    throw error;
  }
}

function first_view(report: Report): string {
  if (report.plan) return "distributed";
  return report.out_of_memory ? "out-of-memory" : "summary";
}

export function App(props: { report: Report; other: Report | undefined }) {
  const { report, other } = props;
  const place = use_place();
  const [help, set_help] = useState(false);
  const [, again] = useState(0);
  const main = useRef<HTMLElement>(null);
  const view = ordered.find((v) => v.id === place.view) ?? ordered.find((v) => v.id === (other && !place.view ? "compare" : first_view(report))) ?? ordered[0]!;
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || document.querySelector("dialog[open]")) {
        if (e.key === "Escape" && target.tagName === "INPUT") target.blur();
        return;
      }
      const at = Math.max(0, ordered.findIndex((v) => v.id === (current().view || view.id))), number = kNumbers.indexOf(e.key);
      if (number >= 0 && number < ordered.length) go(ordered[number]!.id);
      else if (e.key === "[") go(ordered[(at + ordered.length - 1) % ordered.length]!.id);
      else if (e.key === "]") go(ordered[(at + 1) % ordered.length]!.id);
      else if (e.key === "?") set_help(true);
      else if (e.key === "t") turn_theme(), again((n) => n + 1);
      else if (e.key === "m") main.current?.querySelector<HTMLElement>("[tabindex='0'], button, a, input")?.focus();
      else if (e.key === "/") main.current?.querySelector<HTMLElement>("input.find")?.focus();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [view]);
  useEffect(() => {
    main.current?.scrollTo(0, 0);
    document.title = `${view.title} · ${report.file}`;
  }, [view]);
  const missing = missing_of(view, report, other);
  const theme = document.documentElement.dataset["theme"];
  return (
    <>
      <header>
        <h1>Pando</h1>
        <span class="file" title={report.file}>{report.file}{other ? ` and ${other.file}` : ""} · {report.target_line()}</span>
        <button onClick={() => (turn_theme(), again((n) => n + 1))} title="t">{theme === "dark" ? "light" : "dark"}</button>
        <button onClick={() => set_help(true)} title="?">keys</button>
      </header>
      <nav aria-label="views">
        {ordered.map((v, i) => (
          <a href={text_of(to(v.id))} aria-current={v === view ? "page" : undefined} class={missing_of(v, report, other) ? "empty" : ""} data-view={v.id}
            onClick={(e) => { if (!e.ctrlKey && !e.metaKey) e.preventDefault(), go(v.id); }}>
            {v.title} <kbd>{kNumbers[i] ?? ""}</kbd>
          </a>
        ))}
      </nav>
      <main ref={main} data-view={view.id} key={`${view.id} ${theme}`}>
        <Guard name={view.title} key={view.id}>
          <h2>{view.title}</h2>
          {missing ? <Empty>{missing}</Empty> : <view.show report={report} other={other} />}
        </Guard>
      </main>
      {help && <Help view={view} close={() => set_help(false)} />}
    </>
  );
}

