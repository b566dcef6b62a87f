// A search, a simulated step or a step of a run on several devices: the certificate, the points, the schedule with its messages, memory by
// device, where values lie.
import { useMemo, useRef } from "preact/hooks";
import { series } from "../colours.ts";
import { bytes, percent, plural, seconds, short_bytes } from "../format.ts";
import { by_host, plan_lanes } from "../pictures/plan_lanes.ts";
import { Plan, PlanPoint } from "../report/plan.ts";
import { set, use_index, use_param } from "../state.ts";
import { ViewProps } from "../view.ts";
import { place_names, told_apart } from "../widgets/names.ts";
import { Card, Choice, Legend } from "../widgets/parts.tsx";
import { Picture } from "../widgets/picture.tsx";
import { Line, Plot } from "../widgets/plot.tsx";
import { Table } from "../widgets/table.tsx";
import { Messages, Pair } from "./messages.tsx";

const kWide = 900, kHigh = 340, kLeft = 80, kBottom = 40;

/** Round numbers from 0 to a most, at most six. */
function ticks(most: number, binary: boolean): number[] {
  const base = binary ? 2 : 10, raw = most / 5, power = base ** Math.floor(Math.log(raw) / Math.log(base));
  const step = (binary ? [1, 2] : [1, 2, 5, 10]).map((f) => f * power).find((s) => s >= raw) ?? raw;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

/** Memory against time: each point can be chosen by mouse or keys. */
function Points({ plan, chosen }: { plan: Plan; chosen: number | undefined }) {
  const most_bytes = 1.05 * Math.max(plan.memory_limit, ...plan.points.map((p) => p.bytes)), most_seconds = 1.05 * Math.max(...plan.points.map((p) => p.seconds));
  const x = (b: number) => kLeft + ((kWide - kLeft - 20) * b) / most_bytes, y = (s: number) => 10 + (kHigh - kBottom - 10) * (1 - s / most_seconds);
  const frontier = plan.points.filter((p) => p.frontier).sort((a, b) => a.bytes - b.bytes);
  // The best and the frontier's ends first, then the points between them.
  const short = told_apart(frontier.map((p) => p.strategy)), order = [...new Set([frontier.indexOf(plan.points[0]!), 0, frontier.length - 1, ...[8, 4, 2, 1].flatMap((every) => frontier.map((_, i) => i).filter((i) => i % every === 0))])].filter((i) => i >= 0 && i < frontier.length);
  const names = place_names(order.map((i) => ({ item: frontier[i]!, text: short[i]!, short: short[i]!.length > 60 ? `${short[i]!.slice(0, 59)}…` : short[i]!, x: x(frontier[i]!.bytes), y: y(frontier[i]!.seconds), r: 5 })), { left: kLeft, right: kWide, top: 0, bottom: kHigh - kBottom }, (t) => 5.6 * t.length);
  const svg = useRef<SVGSVGElement>(null), here = chosen ?? 0;
  // From point to point by memory.
  const by_bytes = plan.points.map((_, i) => i).sort((a, b) => plan.points[a]!.bytes - plan.points[b]!.bytes || plan.points[b]!.seconds - plan.points[a]!.seconds);
  const key = (e: KeyboardEvent, i: number) => {
    const d = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key], next = d && by_bytes[Math.min(by_bytes.length - 1, Math.max(0, by_bytes.indexOf(i) + d))];
    if (next !== undefined) svg.current?.querySelectorAll<SVGCircleElement>("circle")[next]?.focus();
    else if (e.key === "Enter") set({ point: String(i) });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const title = (p: PlanPoint) => `${p.strategy}: ${seconds(p.seconds)}, ${bytes(p.bytes)}`;
  return (
    <svg ref={svg} class="plan-points" viewBox={`0 0 ${kWide} ${kHigh}`} style={{ width: "100%", maxWidth: "70rem" }} role="group" aria-label="points of the search: memory of the fullest device against the time of a step (arrows go from point to point, Enter chooses)">
      {ticks(most_bytes, true).map((b) => <g><line x1={x(b)} x2={x(b)} y1="10" y2={kHigh - kBottom} stroke="var(--line)" /><text x={x(b)} y={kHigh - kBottom + 16} font-size="12" text-anchor="middle" fill="currentColor">{short_bytes(b)}</text></g>)}
      {ticks(most_seconds, false).map((s) => <g><line x1={kLeft} x2={kWide - 20} y1={y(s)} y2={y(s)} stroke="var(--line)" /><text x={kLeft - 6} y={y(s) + 4} font-size="12" text-anchor="end" fill="currentColor">{seconds(s)}</text></g>)}
      <text x={(kLeft + kWide) / 2} y={kHigh - 6} font-size="12" text-anchor="middle" fill="currentColor">memory of the fullest device</text>
      {plan.memory_limit > 0 && <line x1={x(plan.memory_limit)} x2={x(plan.memory_limit)} y1="10" y2={kHigh - kBottom} stroke="#d55e00" stroke-dasharray="6 4"><title>{`limit: ${bytes(plan.memory_limit)}`}</title></line>}
      {frontier.length > 1 && <polyline points={frontier.map((p) => `${x(p.bytes)},${y(p.seconds)}`).join(" ")} fill="none" stroke={series(0)} />}
      {plan.points.map((p, i) => (
        <circle cx={x(p.bytes)} cy={y(p.seconds)} r={i === chosen ? 8 : i === 0 ? 6 : 4} fill={p.frontier ? series(0) : series(1)} stroke="currentColor" stroke-width={i === chosen ? 2 : 0.5}
          tabindex={i === here ? 0 : -1} role="button" aria-label={title(p)} onClick={() => set({ point: String(i) })} onKeyDown={(e) => key(e, i)}><title>{title(p)}</title></circle>
      ))}
      {names.map((n) => <text class="point-name" x={n.x} y={n.y} font-size="10" fill="currentColor" pointer-events="none">{n.text}</text>)}
    </svg>
  );
}

function Memory({ plan }: { plan: Plan }) {
  const used = plan.kinds.map((_, k) => plan.devices.some((d) => d.memory[k]! > 0)), sums = plan.devices.map((d) => d.memory.reduce((a, b) => a + b, 0)), most = Math.max(plan.memory_limit, ...sums, 1);
  return (
    <>
      <h3>Memory at the peak</h3>
      <Legend items={plan.kinds.map((title, k) => ({ title, colour: series(k) })).filter((_, k) => used[k])} />
      {plan.devices.slice(0, 64).map((d, i) => (
        <div class="plan-memory" style={{ display: "grid", gridTemplateColumns: "9rem 1fr 7rem", gap: "0.8rem", alignItems: "center", maxWidth: "75rem" }}>
          <span>{d.name}</span>
          <div style={{ display: "flex", height: "1rem", background: "var(--panel)" }}>
            {d.memory.map((b, k) => b > 0 && <div title={`${plan.kinds[k]}: ${bytes(b)}`} style={{ width: `${(100 * b) / most}%`, background: series(k) }} />)}
          </div>
          <span class="soft">{bytes(sums[i]!)}</span>
        </div>
      ))}
      {plan.devices.length > 64 && <p class="soft">and {plural(plan.devices.length - 64, "device")} more: see the table</p>}
    </>
  );
}

/** Memory in use of each device over time: the most of each of so many equal times. */
function memory_over_time(plan: Plan): { x: Float64Array; lines: Line[] } | undefined {
  const e = plan.events;
  if (!e.bytes) return undefined;
  const bins = 1500, length = Math.max(1e-12, ...plan.devices.map((d) => d.end)), x = Float64Array.from({ length: bins }, (_, k) => (k * length) / bins);
  const values = plan.devices.map(() => new Float64Array(bins));
  for (let i = 0; i < e.device.length; ++i) {
    const of = values[e.device[i]!]!;
    for (let k = Math.max(0, Math.floor((e.begin[i]! / length) * bins)), end = Math.min(bins - 1, Math.floor(((e.begin[i]! + e.seconds[i]!) / length) * bins)); k <= end; ++k) of[k] = Math.max(of[k]!, e.bytes[i]!);
  }
  for (const of of values) for (let k = 0; k < bins; ++k) if (of[k] === 0) of[k] = k > 0 ? of[k - 1]! : (of.find((b) => b > 0) ?? 0);
  return { x, lines: plan.devices.slice(0, 32).map((d, i) => ({ title: d.name, colour: series(i), values: values[i]! })) };
}

/** Messages by sender, receiver and name. */
function message_sums(plan: Plan) {
  const m = plan.messages, sums = new Map<string, { from: number; to: number; name: string; times: number; bytes: number }>();
  for (let i = 0; i < m.from.length; ++i) {
    const key = `${m.from[i]} ${m.to[i]} ${m.name[i]}`, sum = sums.get(key) ?? { from: m.from[i]!, to: m.to[i]!, name: plan.names[m.name[i]!]!, times: 0, bytes: 0 };
    (sum.times += 1), (sum.bytes += m.bytes[i]!);
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}

function PlanMessages({ plan }: { plan: Plan }) {
  const sums = useMemo(() => message_sums(plan), [plan]), pairs = new Map<string, Pair>(), name = (i: number) => plan.devices[i]!.name;
  if (sums.length === 0) return null;
  for (const s of sums) {
    const key = `${s.from} ${s.to}`, pair = pairs.get(key) ?? { from: s.from, to: s.to, bytes: 0 };
    pair.bytes += s.bytes;
    pairs.set(key, pair);
  }
  return (
    <>
      <h3>Messages</h3>
      <Messages count={plan.devices.length} name={name} pairs={[...pairs.values()]} />
      <Table id="messages" rows={sums} noun="message" height={260} columns={[
        { id: "name", title: "value", value: (s) => s.name }, { id: "from", title: "from", value: (s) => name(s.from) }, { id: "to", title: "to", value: (s) => name(s.to) },
        { id: "times", title: "messages", value: (s) => s.times }, { id: "bytes", title: "bytes", value: (s) => s.bytes, text: bytes, bar: true },
      ]} />
      {plan.messages_lost > 0 && <p class="soft">The report has no room for {plural(plan.messages_lost, "later message")}.</p>}
    </>
  );
}

function Values({ plan }: { plan: Plan }) {
  if (plan.values.length === 0) return null;
  return (
    <>
      <h3>Where values lie</h3>
      <Table id="values" rows={plan.values} noun="value" height={300} columns={[
        { id: "name", title: "value", value: (v) => v.name }, { id: "kind", title: "kind", value: (v) => v.kind }, { id: "shape", title: "shape", value: (v) => v.shape },
        { id: "bytes", title: "on each device", value: (v) => v.bytes, text: bytes, bar: true }, { id: "devices", title: "devices", value: (v) => v.devices.map((d) => plan.devices[d]!.name.replace(/^(device|rank) /, "")).join(", ") },
      ]} />
    </>
  );
}

export function PlanView({ report }: ViewProps) {
  const clock = use_param("clock", "machine"), arrows = use_param("arrows", "on") === "on", whole = report.plan!;
  const has_host = whole.events.host_seconds !== undefined, plan = useMemo(() => (clock === "host" ? by_host(whole) : whole), [whole, clock]);
  const lanes = useMemo(() => plan_lanes(plan, arrows), [plan, arrows]), memory = useMemo(() => memory_over_time(plan), [plan]), chosen = use_index("point", plan.points.length);
  const point = chosen === undefined ? undefined : plan.points[chosen], count = plan.devices.length, end = Math.max(0, ...plan.devices.map((d) => d.end));
  return (
    <>
      <p>{plan.title}</p>
      <div class="cards">
        <Card value={seconds(plan.seconds)} title="a step" />
        {plan.points.length > 0 && <Card value={bytes(plan.points[0]!.bytes)} title="the fullest device" />}
        {plan.memory_limit > 0 && <Card value={bytes(plan.memory_limit)} title="memory of a device" />}
        {count > 0 && plan.seconds > 0 && clock !== "host" && <Card value={percent(plan.devices.reduce((s, d) => s + d.computing, 0) / (count * plan.seconds))} title="of the time computes" />}
      </div>
      {plan.points.length > 0 && (
        <>
          <h3>Points</h3>
          <Legend items={[{ title: "no other is better in both time and memory", colour: series(0) }, { title: "others of the best", colour: series(1) }]} />
          <Points plan={plan} chosen={chosen} />
          {point && <p>{point.strategy}: {seconds(point.seconds)} ({percent(point.seconds / plan.points[0]!.seconds - 1)} slower than the best), {bytes(point.bytes)}</p>}
          <Table id="points" rows={plan.points} noun="point" height={260} on_pick={(p) => set({ point: String(plan.points.indexOf(p)) })} picked={(p) => p === point} columns={[
            { id: "strategy", title: "strategy", value: (p) => p.strategy }, { id: "seconds", title: "a step", value: (p) => p.seconds, text: seconds, bar: true }, { id: "bytes", title: "fullest device", value: (p) => p.bytes, text: bytes, bar: true },
            { id: "frontier", title: "frontier", value: (p) => (p.frontier ? "yes" : "") },
          ]} />
        </>
      )}
      {plan.events.device.length > 0 && (
        <>
          <h3>Schedule{plan.points.length > 0 ? " of the best" : ""}</h3>
          <div class="bar">
            <Legend items={lanes.legend} />
            {has_host && <Choice title="clock" value={clock} on={(v) => set({ clock: v, "plan-schedule": "" })} options={[{ id: "machine", title: "of the machine, modelled" }, { id: "host", title: "of the host" }]} />}
            {plan.messages.from.length > 0 && <Choice title="messages" value={arrows ? "on" : "off"} on={(v) => set({ arrows: v })} options={[{ id: "on", title: "as arrows" }, { id: "off", title: "hidden" }]} />}
          </div>
          <Picture key={clock} id="plan-schedule" source={lanes} height={Math.min(520, 40 + 2 * count * (count > 8 ? 12 : 22))} title="schedule of the devices" margin_left={110} />
          {Math.abs(end / plan.seconds - 1) > 0.005 && <p class="soft">Replayed pass by pass, the schedule ends after {seconds(end)}; the estimate of a step is {seconds(plan.seconds)}.</p>}
          {plan.events_lost > 0 && <p class="soft">The report holds the first {plural(plan.events.device.length, "event")}; {plural(plan.events_lost, "later one")} {plan.events_lost === 1 ? "is" : "are"} not in it.</p>}
        </>
      )}
      {memory && <><h3>Memory in use over time</h3><Plot key={clock} id="plan-memory" title="memory of the devices over time" lines={memory.lines} x={memory.x} steps x_title="time" x_text={seconds} text={short_bytes} /></>}
      {plan.devices.some((d) => d.memory.some((b) => b > 0)) && <Memory plan={plan} />}
      {count > 0 && (
        <Table id="plan-devices" rows={plan.devices} noun="device" height={260} columns={[
          { id: "name", title: "device", value: (d) => d.name }, { id: "computing", title: "computes", value: (d) => d.computing, text: seconds, bar: true }, { id: "transferring", title: "transfers", value: (d) => d.transferring, text: seconds },
          { id: "bubbles", title: "bubbles", value: (d) => (plan.seconds > 0 ? Math.max(0, 1 - d.computing / plan.seconds) : 0), text: percent, hidden: clock === "host" },
          { id: "end", title: "ends", value: (d) => d.end, text: seconds }, { id: "bytes", title: "peak memory", value: (d) => d.memory.reduce((a, b) => a + b, 0), text: bytes, bar: true },
          ...plan.kinds.map((kind, k) => ({ id: `kind${k}`, title: kind, value: (d: Plan["devices"][0]) => d.memory[k]!, text: bytes, hidden: true })),
        ]} />
      )}
      <PlanMessages plan={plan} />
      <Values plan={plan} />
      {plan.why_not && <><h3>Why not</h3><pre class="plan-text">{plan.why_not}</pre></>}
      {plan.text && <><h3>{plan.points.length > 0 ? "Certificate" : "What was said"}</h3><pre class="plan-text">{plan.text}</pre></>}
    </>
  );
}
