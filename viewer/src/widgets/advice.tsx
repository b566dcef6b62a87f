// What the rules of advice found, with links to where it can be seen.
import { percent } from "../format.ts";
import { Report } from "../report/report.ts";
import { Link } from "./parts.tsx";

export function AdviceList({ report, only }: { report: Report; only?: (rule: string) => boolean }) {
  const list = report.advice.filter((a) => !only || only(a.rule));
  if (!list.length) return null;
  return (
    <>
      {!only && <h3>Advice</h3>}
      {list.map((a) => (
        <div class="advice">
          <p><b>{a.title}</b>{a.cost > 0 && <span class="soft"> · {percent(a.cost)} of the {a.unit === "bytes" ? "memory" : "cycles"}</span>}</p>
          {a.text && <p>{a.text}</p>}
          {a.evidence.length > 0 && (
            <details>
              <summary class="soft">{a.evidence[0]!.text}{a.evidence.length > 1 ? ` and ${a.evidence.length - 1} more` : ""}</summary>
              <ul style={{ margin: "0.2rem 0" }}>
                {a.evidence.slice(0, 20).map((e) => <li>{e.text}{e.links.map((l) => <> · <Link view={l.view} params={l.params}>{l.title}</Link></>)}</li>)}
              </ul>
            </details>
          )}
        </div>
      ))}
    </>
  );
}
