// A search or a simulated step: the certificate, the points, the best one's schedule, memory by device.
import { useMemo } from "preact/hooks";
import { series } from "../colours.ts";
import { bytes, percent, plural, seconds, short_bytes } from "../format.ts";
import { plan_lanes } from "../pictures/plan_lanes.ts";
import { Plan, PlanPoint } from "../report/plan.ts";
import { set, use_index } from "../state.ts";
import { View, ViewProps } from "../view.ts";
import { Card, Legend } from "../widgets/parts.tsx";
import { Picture } from "../widgets/picture.tsx";
import { Table } from "../widgets/table.tsx";

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
  const title = (p: PlanPoint) => `${p.strategy}: ${seconds(p.seconds)}, ${bytes(p.bytes)}`;
  return (
    <svg class="plan-points" viewBox={`0 0 ${kWide} ${kHigh}`} style={{ width: "100%", maxWidth: "70rem" }} role="group" aria-label="points of the search: memory of the fullest device against the time of a step">
      {ticks(most_bytes, true).map((b) => <g><line x1={x(b)} x2={x(b)} y1="10" y2={kHigh - kBottom} stroke="var(--line)" /><text x={x(b)} y={kHigh - kBottom + 16} font-size="12" text-anchor="middle" fill="currentColor">{short_bytes(b)}</text></g>)}
      {ticks(most_seconds, false).map((s) => <g><line x1={kLeft} x2={kWide - 20} y1={y(s)} y2={y(s)} stroke="var(--line)" /><text x={kLeft - 6} y={y(s) + 4} font-size="12" text-anchor="end" fill="currentColor">{seconds(s)}</text></g>)}
      <text x={(kLeft + kWide) / 2} y={kHigh - 6} font-size="12" text-anchor="middle" fill="currentColor">memory of the fullest device</text>
      {plan.memory_limit > 0 && <line x1={x(plan.memory_limit)} x2={x(plan.memory_limit)} y1="10" y2={kHigh - kBottom} stroke="#d55e00" stroke-dasharray="6 4"><title>{`limit: ${bytes(plan.memory_limit)}`}</title></line>}
      {frontier.length > 1 && <polyline points={frontier.map((p) => `${x(p.bytes)},${y(p.seconds)}`).join(" ")} fill="none" stroke={series(0)} />}
      {plan.points.map((p, i) => (
        <circle cx={x(p.bytes)} cy={y(p.seconds)} r={i === chosen ? 8 : i === 0 ? 6 : 4} fill={p.frontier ? series(0) : series(1)} stroke="currentColor" stroke-width={i === chosen ? 2 : 0.5}
          tabindex={0} role="button" aria-label={title(p)} onClick={() => set({ point: String(i) })} onKeyDown={(e) => e.key === "Enter" && set({ point: String(i) })}><title>{title(p)}</title></circle>
      ))}
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

function Show({ report }: ViewProps) {
  const plan = report.plan!, lanes = useMemo(() => plan_lanes(plan), [plan]), chosen = use_index("point", plan.points.length);
  const point = chosen === undefined ? undefined : plan.points[chosen], count = plan.devices.length, end = Math.max(0, ...plan.devices.map((d) => d.end));
  return (
    <>
      <p>{plan.title}</p>
      <div class="cards">
        <Card value={seconds(plan.seconds)} title="a step" />
        {plan.points.length > 0 && <Card value={bytes(plan.points[0]!.bytes)} title="the fullest device" />}
        {plan.memory_limit > 0 && <Card value={bytes(plan.memory_limit)} title="memory of a device" />}
        {count > 0 && plan.seconds > 0 && <Card value={percent(plan.devices.reduce((s, d) => s + d.computing, 0) / (count * plan.seconds))} title="of the time computes" />}
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
          <Legend items={lanes.legend} />
          <Picture id="plan-schedule" source={lanes} height={Math.min(520, 40 + 2 * count * (count > 8 ? 12 : 22))} title="schedule of the devices" margin_left={110} />
          {Math.abs(end / plan.seconds - 1) > 0.005 && <p class="soft">Replayed pass by pass, the schedule ends after {seconds(end)}; the estimate of a step is {seconds(plan.seconds)}.</p>}
          {plan.events_lost > 0 && <p class="soft">The report holds the first {plural(plan.events.device.length, "event")}; {plural(plan.events_lost, "later one")} {plan.events_lost === 1 ? "is" : "are"} not in it.</p>}
        </>
      )}
      {plan.devices.some((d) => d.memory.some((b) => b > 0)) && <Memory plan={plan} />}
      {count > 0 && (
        <Table id="plan-devices" rows={plan.devices} noun="device" height={260} columns={[
          { id: "name", title: "device", value: (d) => d.name }, { id: "computing", title: "computes", value: (d) => d.computing, text: seconds, bar: true }, { id: "transferring", title: "transfers", value: (d) => d.transferring, text: seconds },
          { id: "end", title: "ends", value: (d) => d.end, text: seconds }, { id: "bytes", title: "peak memory", value: (d) => d.memory.reduce((a, b) => a + b, 0), text: bytes, bar: true },
          ...plan.kinds.map((kind, k) => ({ id: `kind${k}`, title: kind, value: (d: Plan["devices"][0]) => d.memory[k]!, text: bytes, hidden: true })),
        ]} />
      )}
      {plan.why_not && <><h3>Why not</h3><pre class="plan-text">{plan.why_not}</pre></>}
      {plan.text && <><h3>{plan.points.length > 0 ? "Certificate" : "What was said"}</h3><pre class="plan-text">{plan.text}</pre></>}
    </>
  );
}

const view: View = { id: "plan", title: "Plan", order: 11, missing: (r) => (r.plan ? undefined : "The report is of a program on tiles. pando search --report and pando simulate --report write plans."), show: Show };
export default view;
