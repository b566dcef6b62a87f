import { render } from "preact";
import { App, start_theme } from "./app.tsx";
import { bytes_in_page, open, ReportError, TooLongError } from "./report/open.ts";
import "./style.css";

const app = document.getElementById("app")!;

function show_error(title: string, text: string, again = true) {
  app.textContent = "";
  render(
    <div class="opening" id="wrong-report" style={{ gridColumn: "1 / 3" }}>
      <h1>{title}</h1>
      <p>{text}</p>
      {again && <p class="soft">Write this page again with <code>pando view REPORT</code>, by the same version of Pando that wrote the report.</p>}
    </div>,
    app,
  );
}

// What fails outside of a view (a key, a picture) is said, and the page goes on.
function tell(event: Event, error: unknown) {
  if (error instanceof ReportError) event.preventDefault();
  let note = document.getElementById("note");
  if (!note) {
    note = document.createElement("p");
    note.id = "note";
    note.setAttribute("role", "alert");
    document.body.append(note);
  }
  note.textContent = String((error as Error)?.message ?? error);
  note.onclick = () => note.remove();
}
addEventListener("error", (e) => tell(e, e.error));
addEventListener("unhandledrejection", (e) => tell(e, e.reason));

function start() {
  start_theme();
  const began = performance.now();
  let reports;
  try {
    reports = bytes_in_page().map((r) => open(r.name, r.bytes, r.fabrics));
  } catch (error) {
    return show_error("This report cannot be shown", String((error as Error).message ?? error), !(error instanceof TooLongError));
  }
  if (reports.length === 0) return show_error("This page holds no report", "It is the viewer alone.");
  app.textContent = "";
  render(<App report={reports[0]!} other={reports[1]} />, app);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset["opened"] = (performance.now() - began).toFixed(0);
  }));
}

start();
