// The reports that the page carries.
import { Bytes, Container } from "./container.ts";
import { JsonReport } from "./json_report.ts";
import { PageBytes } from "./page_bytes.ts";
import { Report } from "./report.ts";

export { ReportError, TooLongError } from "./container.ts";

/** <div class="pando-report" hidden data-name="FILE" data-bytes="LENGTH"><!--BASE64--> ...</div>, at most two. */
export function bytes_in_page(): { name: string; bytes: Bytes; fabrics: string }[] {
  return [...document.querySelectorAll<HTMLElement>(".pando-report")].map((element) => {
    const pieces = [...element.childNodes].map((node) => node.textContent ?? "");
    element.textContent = "";
    return { name: element.dataset["name"] ?? "report", bytes: new PageBytes(Number(element.dataset["bytes"]), pieces), fabrics: element.dataset["fabrics"] ?? "" };
  });
}

/** `fabrics`: machines with how the tiles of an IPU lie, columns x rows x lanes: "ipu1=16x19x4 ipu2=16x23x4". */
export function open(name: string, bytes: Bytes, fabrics = ""): Report {
  // Version 3 is JSON.
  const tables = bytes.subarray(0, 1)[0] === 0x7b ? new JsonReport(bytes.subarray(0, bytes.length)) : new Container(bytes);
  const report = new Report(name, tables), machine = fabrics.split(" ").map((f) => f.split("=")).find(([m]) => m === report.target.name);
  const f = /^(\d+)x(\d+)x(\d+)$/.exec(machine?.[1] ?? "");
  if (f && +f[1]! * +f[2]! * +f[3]! === report.target.tiles_per_ipu) report.fabric = { columns: +f[1]!, rows: +f[2]!, lanes: +f[3]! };
  return report;
}
