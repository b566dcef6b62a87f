// The document `plan`: a search's points, when each device of a step does what, what it sends, what its memory holds, where values lie.
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
  kind?: number[]; // in Plan.event_kinds
  bytes?: number[]; // of the device, in use during it
  host_begin?: number[];
  host_seconds?: number[];
}
export interface PlanMessages {
  from: number[];
  to: number[];
  name: number[];
  bytes: number[];
  sent: number[];
  received: number[];
  host_sent?: number[];
  host_received?: number[];
}
export interface PlanValue {
  name: string;
  kind: string;
  shape: string;
  bytes: number; // on each of its devices
  devices: number[];
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
  event_kinds: string[];
  messages: PlanMessages;
  messages_lost: number;
  values: PlanValue[];
}

function damaged(how: string): never {
  throw new ReportError(`The report is damaged: plan: ${how}.`);
}

const below = (end: number) => (x: unknown) => Number.isInteger(x) && (x as number) >= 0 && (x as number) < end;

/** Checks what the page relies on; undefined if the report has no plan. */
export function plan_of(json: unknown): Plan | undefined {
  if (json === undefined) return undefined;
  const p = json as Plan;
  if (typeof p !== "object" || p === null) damaged("expected an object");
  for (const name of ["title", "machine", "text", "why_not"] as const) if (typeof p[name] !== "string") damaged(`'${name}' is not a text`);
  for (const name of ["seconds", "memory_limit", "events_lost"] as const) if (!Number.isFinite(p[name])) damaged(`'${name}' is not a number`);
  for (const name of ["points", "kinds", "devices", "names"] as const) if (!Array.isArray(p[name])) damaged(`'${name}' is not a list`);
  for (const name of ["kinds", "names"] as const) if (!p[name].every((x) => typeof x === "string")) damaged(`'${name}' holds something that is not a text`);
  if (!p.points.every((x) => typeof x?.strategy === "string" && Number.isFinite(x.seconds) && Number.isFinite(x.bytes))) damaged("a point has no strategy, time or memory");
  if (!p.devices.every((d) => typeof d?.name === "string" && [d.computing, d.transferring, d.end].every(Number.isFinite) && Array.isArray(d.memory) && d.memory.length === p.kinds.length && d.memory.every(Number.isFinite)))
    damaged("a device has no name, times or memory");
  const e = p.events, n = e?.device?.length;
  if (!Number.isInteger(n) || [e.device, e.name, e.transfer, e.begin, e.seconds].some((column) => !Array.isArray(column) || column.length !== n)) damaged("the lists of its events differ in length");
  const device_at = below(p.devices.length), name_at = below(p.names.length);
  for (let i = 0; i < n; ++i)
    if (!(device_at(e.device[i]) && name_at(e.name[i]) && Number.isFinite(e.begin[i]) && Number.isFinite(e.seconds[i]) && e.seconds[i]! >= 0)) damaged(`event ${i} names what is not there`);
  p.event_kinds ??= [];
  p.messages ??= { from: [], to: [], name: [], bytes: [], sent: [], received: [] };
  p.messages_lost ??= 0;
  p.values ??= [];
  check_more(p);
  return p;
}

function check_more(p: Plan) {
  const e = p.events, n = e.device.length, m = p.messages, lists = (value: unknown) => Array.isArray(value);
  if (typeof m !== "object" || m === null || !lists(m.from)) damaged("its messages are no lists");
  const count = m.from.length;
  if (!lists(p.event_kinds) || !p.event_kinds.every((x) => typeof x === "string") || !lists(p.values) || !Number.isFinite(p.messages_lost)) damaged("its kinds, values or messages are no lists");
  for (const name of ["kind", "bytes", "host_begin", "host_seconds"] as const)
    if (e[name] !== undefined && (!lists(e[name]) || e[name]!.length !== n || !e[name]!.every(Number.isFinite))) damaged(`the events' '${name}' are no list of ${n} numbers`);
  if (e.kind && !e.kind.every(below(p.event_kinds.length))) damaged("an event is of a kind that is not there");
  for (const name of ["to", "name", "bytes", "sent", "received"] as const) if (!lists(m[name]) || m[name].length !== count || !m[name].every(Number.isFinite)) damaged("the lists of its messages differ in length");
  for (const name of ["host_sent", "host_received"] as const) if (m[name] !== undefined && (!lists(m[name]) || m[name]!.length !== count || !m[name]!.every(Number.isFinite))) damaged("the lists of its messages differ in length");
  if (![m.from, m.to].every((list) => list.every(below(p.devices.length))) || !m.name.every(below(p.names.length))) damaged("a message names what is not there");
  if (!p.values.every((v) => typeof v?.name === "string" && typeof v.kind === "string" && typeof v.shape === "string" && Number.isFinite(v.bytes) && Array.isArray(v.devices) && v.devices.every(below(p.devices.length))))
    damaged("a value has no name, kind, size or device");
}
