// The reports that the page carries.
import { Container } from "./container.ts";
import { JsonReport } from "./json_report.ts";
import { Report } from "./report.ts";

export { ReportError } from "./container.ts";

export function bytes_of_base64(text: string): Uint8Array {
  const fast = (Uint8Array as unknown as { fromBase64?: (t: string) => Uint8Array }).fromBase64;
  if (fast) return fast.call(Uint8Array, text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** <script type="application/x-pando-report" data-name="FILE">BASE64</script>, at most two. */
export function bytes_in_page(): { name: string; bytes: Uint8Array; fabrics: string }[] {
  return [...document.querySelectorAll<HTMLScriptElement>('script[type="application/x-pando-report"]')].map((element) => {
    const bytes = bytes_of_base64(element.textContent!.trim());
    element.textContent = "";
    return { name: element.dataset["name"] ?? "report", bytes, fabrics: element.dataset["fabrics"] ?? "" };
  });
}

/** `fabrics`: machines with how the tiles of an IPU lie, columns x rows x lanes: "ipu1=16x19x4 ipu2=16x23x4". */
export function open(name: string, bytes: Uint8Array, fabrics = ""): Report {
  // Version 3 is JSON.
  const tables = bytes[0] === 0x7b ? new JsonReport(bytes) : new Container(bytes);
  const report = new Report(name, tables), machine = fabrics.split(" ").map((f) => f.split("=")).find(([m]) => m === report.target.name);
  const f = /^(\d+)x(\d+)x(\d+)$/.exec(machine?.[1] ?? "");
  if (f && +f[1]! * +f[2]! * +f[3]! === report.target.tiles_per_ipu) report.fabric = { columns: +f[1]!, rows: +f[2]!, lanes: +f[3]! };
  return report;
}
