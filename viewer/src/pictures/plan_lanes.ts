// Two lanes for each device of a plan, what it computes and what it transfers, over seconds; its messages as arrows.
import { ink, series } from "../colours.ts";
import { bytes, percent, seconds } from "../format.ts";
import { Plan } from "../report/plan.ts";
import { Source } from "../widgets/picture.tsx";
import { draw_arrow } from "./arrows.ts";

// A cell of a schedule is stage, action, microbatch: 0F3 and 4F1 are forward passes. What other names say is what they are without numbers.
const kActions: Record<string, string> = { F: "forward", B: "backward", I: "gradients of inputs", W: "gradients of weights" };
function kind_of(name: string): string {
  const action = /^\d+([A-Z_]+)\d*$/.exec(name)?.[1];
  return action ? (kActions[action] ?? action) : name.replace(/[\d._:]+$/, "") || name;
}

export interface PlanLanes extends Source {
  legend: { title: string; colour: string }[];
}

/** The same plan by the host's clock, if it has that. */
export function by_host(plan: Plan): Plan {
  const e = plan.events, m = plan.messages;
  if (!e.host_begin || !e.host_seconds) return plan;
  const end = (d: number) => e.device.reduce((most, of, i) => (of === d ? Math.max(most, e.host_begin![i]! + e.host_seconds![i]!) : most), 0);
  const devices = plan.devices.map((d, i) => ({ ...d, end: end(i) }));
  return {
    ...plan, devices, seconds: Math.max(1e-12, ...devices.map((d) => d.end)), events: { ...e, begin: e.host_begin, seconds: e.host_seconds },
    messages: { ...m, sent: m.host_sent ?? m.sent, received: m.host_received ?? m.received },
  };
}

// Most arrows that a view shows: more are a blot.
const kMostArrows = 400;

export function plan_lanes(plan: Plan, arrows = true): PlanLanes {
  const e = plan.events, m = plan.messages, lanes = 2 * plan.devices.length, by_lane: number[][] = Array.from({ length: lanes }, () => []);
  for (let i = 0; i < e.device.length; ++i) by_lane[2 * e.device[i]! + (e.transfer[i] ? 1 : 0)]!.push(i);
  for (const list of by_lane) list.sort((a, b) => e.begin[a]! - e.begin[b]!);
  const kinds = e.kind ? plan.event_kinds : [...new Set(e.name.map((n) => kind_of(plan.names[n]!)))], colour = new Map(kinds.map((k, i) => [k, series(i)]));
  const kind_at = (i: number) => (e.kind ? plan.event_kinds[e.kind[i]!]! : kind_of(plan.names[e.name[i]!]!)), colour_at = (i: number) => colour.get(kind_at(i))!;
  const length = Math.max(1e-12, plan.seconds, ...plan.devices.map((d) => d.end));
  // The last event of a lane that begins at or before x; -1: none.
  const last_before = (list: number[], x: number) => {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (e.begin[list[middle]!]! <= x) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  const event_at = (x: number, y: number) => {
    const list = by_lane[Math.floor(y)], k = list ? last_before(list, x) : -1, i = list?.[k];
    return i !== undefined && x <= e.begin[i]! + e.seconds[i]! ? i : undefined;
  };
  const draw_messages = (c: CanvasRenderingContext2D, view: { x0: number; x1: number; y0: number }, width: number, row: number, sx: number) => {
    const shown: number[] = [];
    for (let i = 0; i < m.from.length && shown.length <= kMostArrows; ++i) if (m.received[i]! >= view.x0 && m.sent[i]! <= view.x1 && (m.received[i]! - view.x0) * sx <= width + 2000) shown.push(i);
    if (shown.length > kMostArrows) return;
    for (const i of shown) draw_arrow(c, (m.sent[i]! - view.x0) * sx, (2 * m.from[i]! + 1.5 - view.y0) * row, (m.received[i]! - view.x0) * sx, (2 * m.to[i]! + 1.5 - view.y0) * row);
  };
  return {
    legend: kinds.slice(0, 12).map((k) => ({ title: k, colour: colour.get(k)! })),
    bounds: { x0: 0, x1: length, y0: 0, y1: Math.max(1, lanes) },
    finest: { x: length / 1e5, y: Math.min(2, lanes) },
    x_title: "time",
    x_label: seconds,
    y_label: (y) => (y % 2 === 0 ? (plan.devices[y / 2]?.name ?? "") : "transfers"),
    chunks: () => [],
    over: (c, view, width, height) => {
      const row = height / (view.y1 - view.y0), sx = width / (view.x1 - view.x0);
      c.font = "12px sans-serif";
      c.textBaseline = "middle";
      by_lane.forEach((list, lane) => {
        const top = (lane - view.y0) * row + 1, tall = row - 2;
        if (top > height || top + tall < 0) return;
        let drawn = -1;
        for (let k = Math.max(0, last_before(list, view.x0)); k < list.length; ++k) {
          const i = list[k]!, x = (e.begin[i]! - view.x0) * sx, w = e.seconds[i]! * sx;
          if (x > width) break;
          // Events that share a pixel are drawn once.
          if (x + w < drawn) continue;
          c.fillStyle = colour_at(i);
          c.fillRect(x, top, Math.max(0.7, w - (w > 3 ? 0.6 : 0)), tall);
          drawn = x + Math.max(0.7, w);
          const name = plan.names[e.name[i]!]!, from = Math.max(0, x), room = Math.min(width, x + w) - from;
          if (room > 14 && tall > 9 && c.measureText(name).width < room - 4) (c.fillStyle = ink(colour_at(i))), c.fillText(name, from + 2, top + tall / 2);
        }
      });
      if (arrows) draw_messages(c, view, width, row, sx);
    },
    at: (x, y) => {
      const i = event_at(x, y), lane = Math.floor(y), device = plan.devices[lane >> 1];
      if (!device) return undefined;
      return `${device.name}${lane % 2 ? ", transfers" : ""}\n${i === undefined ? `nothing at ${seconds(x)}` : `${plan.names[e.name[i]!]!}${e.kind ? `, ${kind_at(i)}` : ""}\n${seconds(e.seconds[i]!)} from ${seconds(e.begin[i]!)} (${percent(e.seconds[i]! / length)} of the step)${e.bytes?.[i] ? `\n${bytes(e.bytes[i]!)} in use` : ""}`}`;
    },
    next: (x, y, d) => {
      const list = by_lane[Math.floor(y)];
      if (!list?.length) return x;
      const k = last_before(list, x), i = list[Math.min(list.length - 1, Math.max(0, k + (d > 0 ? 1 : -1)))]!;
      return e.begin[i]! + e.seconds[i]! / 2;
    },
  };
}
