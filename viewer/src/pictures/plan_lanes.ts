// Two lanes for each device of a plan, what it computes and what it transfers, over seconds.
import { ink, series } from "../colours.ts";
import { percent, seconds } from "../format.ts";
import { Plan } from "../report/plan.ts";
import { Source } from "../widgets/picture.tsx";

// A cell of a schedule is stage, action, microbatch: 0F3 and 4F1 are forward passes. What other names say is what they are without numbers.
const kActions: Record<string, string> = { F: "forward", B: "backward", I: "gradients of inputs", W: "gradients of weights" };
function kind_of(name: string): string {
  const action = /^\d+([A-Z_]+)\d*$/.exec(name)?.[1];
  return action ? (kActions[action] ?? action) : name.replace(/[\d._:]+$/, "") || name;
}

export interface PlanLanes extends Source {
  legend: { title: string; colour: string }[];
}

export function plan_lanes(plan: Plan): PlanLanes {
  const e = plan.events, lanes = 2 * plan.devices.length, by_lane: number[][] = Array.from({ length: lanes }, () => []);
  for (let i = 0; i < e.device.length; ++i) by_lane[2 * e.device[i]! + (e.transfer[i] ? 1 : 0)]!.push(i);
  for (const list of by_lane) list.sort((a, b) => e.begin[a]! - e.begin[b]!);
  const kinds = [...new Set(plan.names.map(kind_of))], colour = new Map(kinds.map((k, i) => [k, series(i)])), of = plan.names.map((n) => colour.get(kind_of(n))!);
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
          c.fillStyle = of[e.name[i]!]!;
          c.fillRect(x, top, Math.max(0.7, w - (w > 3 ? 0.6 : 0)), tall);
          drawn = x + Math.max(0.7, w);
          const name = plan.names[e.name[i]!]!, from = Math.max(0, x), room = Math.min(width, x + w) - from;
          if (room > 14 && c.measureText(name).width < room - 4) (c.fillStyle = ink(of[e.name[i]!]!)), c.fillText(name, from + 2, top + tall / 2);
        }
      });
    },
    at: (x, y) => {
      const i = event_at(x, y), lane = Math.floor(y), device = plan.devices[lane >> 1];
      if (!device) return undefined;
      return `${device.name}${lane % 2 ? ", transfers" : ""}\n${i === undefined ? `nothing at ${seconds(x)}` : `${plan.names[e.name[i]!]!}\n${seconds(e.seconds[i]!)} from ${seconds(e.begin[i]!)} (${percent(e.seconds[i]! / length)} of the step)`}`;
    },
    next: (x, y, d) => {
      const list = by_lane[Math.floor(y)];
      if (!list?.length) return x;
      const k = last_before(list, x), i = list[Math.min(list.length - 1, Math.max(0, k + (d > 0 ? 1 : -1)))]!;
      return e.begin[i]! + e.seconds[i]! / 2;
    },
  };
}
