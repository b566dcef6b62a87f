// What the documents of a report must be like for the page to show them: anything else is said, with its place.
import { ReportError } from "./container.ts";

type Holds = "text" | "number" | "whole" | "yes or no" | "object";

function is(value: unknown, holds: Holds): boolean {
  if (holds === "text") return typeof value === "string";
  if (holds === "yes or no") return typeof value === "boolean";
  if (holds === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === "number" && Number.isFinite(value) && (holds === "number" || (Number.isInteger(value) && value >= 0));
}

function check(value: unknown, where: string, holds: Holds) {
  if (!is(value, holds))
    throw new ReportError(`The report is damaged: ${where}: expected ${holds === "object" ? "an object" : holds === "yes or no" ? "true or false" : holds === "text" ? "a text" : holds === "whole" ? "a whole number that is not negative" : "a number"}, found ${JSON.stringify(value)?.slice(0, 60) ?? "nothing"}.`);
}

function check_members(object: Record<string, any>, where: string, needed: Record<string, Holds>, optional: Record<string, Holds>) {
  for (const [name, holds] of Object.entries(needed)) check(object[name], `${where}.${name}`, holds);
  for (const [name, holds] of Object.entries(optional)) if (object[name] !== undefined) check(object[name], `${where}.${name}`, holds);
}

/** A list of objects; absent: an empty one. */
export function checked_list(list: unknown, where: string, needed: Record<string, Holds>, optional: Record<string, Holds>): Record<string, any>[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new ReportError(`The report is damaged: ${where}: expected a list, found ${JSON.stringify(list).slice(0, 60)}.`);
  list.forEach((item, i) => (check(item, `${where}[${i}]`, "object"), check_members(item, `${where}[${i}]`, needed, optional)));
  return list;
}

// Machines have far fewer; what a page makes for each would not fit.
const kMostTiles = 1e7;

/** The document `report`. */
export function checked_facts(document: unknown): Record<string, any> {
  check(document, "its document 'report'", "object");
  const facts = document as Record<string, any>;
  check(facts["target"], "target", "object");
  const target = facts["target"] as Record<string, any>;
  check_members(target, "target", { name: "text", ipus: "whole", tiles_per_ipu: "whole", tiles: "whole", workers: "whole", bytes_per_tile: "whole", clock_hz: "number" },
    { replicas: "whole", flops_per_cycle_f32: "number", flops_per_cycle_f16: "number", load_bytes_per_cycle: "number" });
  if (target["tiles"] > kMostTiles || target["tiles_per_ipu"] > kMostTiles) throw new ReportError(`The report is damaged: target.tiles: ${Math.max(target["tiles"], target["tiles_per_ipu"])} tiles, at most ${kMostTiles} can be shown.`);
  check_members(facts, "report", {}, { graph: "object", out_of_memory: "text", executed: "yes or no", runs: "number", total_cycles: "number", events_lost: "number" });
  for (const [name, value] of Object.entries(facts["graph"] ?? {})) check(value, `graph.${name}`, "number");
  return facts;
}
