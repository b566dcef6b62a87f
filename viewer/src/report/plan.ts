// The document `plan`: a search's points, when each device of a step does what, what its memory holds.
import { ReportError } from "./container.ts";

export interface PlanPoint {
  strategy: string;
  seconds: number;
  bytes: number;
  frontier: boolean;
}
export interface PlanDevice {
  name: string;
  computing: number;
  transferring: number;
  end: number;
  memory: number[]; // by Plan.kinds
}
export interface PlanEvents {
  device: number[];
  name: number[];
  transfer: boolean[];
  begin: number[];
  seconds: number[];
}
export interface Plan {
  title: string;
  machine: string;
  text: string;
  why_not: string;
  seconds: number;
  memory_limit: number;
  points: PlanPoint[];
  kinds: string[];
  devices: PlanDevice[];
  names: string[];
  events: PlanEvents;
  events_lost: number;
}

function damaged(how: string): never {
  throw new ReportError(`The report is damaged: plan: ${how}.`);
}

/** Checks what the page relies on; undefined if the report has no plan. */
export function plan_of(json: unknown): Plan | undefined {
  if (json === undefined) return undefined;
  const p = json as Plan;
  if (typeof p !== "object" || p === null) damaged("expected an object");
  for (const name of ["title", "machine", "text", "why_not"] as const) if (typeof p[name] !== "string") damaged(`'${name}' is not a text`);
  for (const name of ["seconds", "memory_limit", "events_lost"] as const) if (!Number.isFinite(p[name])) damaged(`'${name}' is not a number`);
  for (const name of ["points", "kinds", "devices", "names"] as const) if (!Array.isArray(p[name])) damaged(`'${name}' is not a list`);
  if (!p.points.every((x) => typeof x?.strategy === "string" && Number.isFinite(x.seconds) && Number.isFinite(x.bytes))) damaged("a point has no strategy, time or memory");
  if (!p.devices.every((d) => typeof d?.name === "string" && [d.computing, d.transferring, d.end].every(Number.isFinite) && Array.isArray(d.memory) && d.memory.length === p.kinds.length && d.memory.every(Number.isFinite)))
    damaged("a device has no name, times or memory");
  const e = p.events, n = e?.device?.length;
  if (!Number.isInteger(n) || [e.name, e.transfer, e.begin, e.seconds].some((column) => column?.length !== n)) damaged("the lists of its events differ in length");
  for (let i = 0; i < n; ++i)
    if (!(e.device[i]! < p.devices.length && e.name[i]! < p.names.length && Number.isFinite(e.begin[i]) && e.seconds[i]! >= 0)) damaged(`event ${i} names what is not there`);
  return p;
}
