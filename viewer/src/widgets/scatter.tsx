// Points on two logarithmic axes; arrow keys go from point to point, Enter chooses.
import { useEffect, useRef, useState } from "preact/hooks";
import { short } from "../format.ts";
import { place_names } from "./names.ts";

export interface Point {
  x: number;
  y: number;
  size: number;
  name: string;
}

/** What no point can be above: y = min(most, slope * x). A slope of 0: `most` alone. */
export interface Roof {
  name: string;
  most: number;
  slope: number;
}

export function Scatter<P extends Point>(props: { title: string; points: P[]; roofs?: Roof[]; x_title: string; y_title: string; text: (p: P) => string; on_pick?: (p: P) => void; picked?: (p: P) => boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null), [at, set_at] = useState(-1);
  const width = 900, height = 380, left = 70, bottom = 40;
  const roofs = props.roofs ?? [];
  const logs = (f: (p: P) => number, also: number[] = []) => {
    const v = [...props.points.map(f), ...also].map((n) => Math.log10(Math.max(1e-9, n)));
    const low = Math.floor(Math.min(...v) - 0.1), high = Math.ceil(Math.max(...v) + 0.1);
    return { low, high: Math.max(high, low + 1) };
  };
  const lx = logs((p) => p.x), ly = logs((p) => p.y, roofs.map((r) => r.most)), most = Math.max(...props.points.map((p) => p.size), 1);
  const px = (p: P) => left + ((Math.log10(Math.max(1e-9, p.x)) - lx.low) / (lx.high - lx.low)) * (width - left - 12);
  const py = (p: P) => height - bottom - ((Math.log10(Math.max(1e-9, p.y)) - ly.low) / (ly.high - ly.low)) * (height - bottom - 12);
  useEffect(() => {
    const c = canvas.current!, ratio = devicePixelRatio || 1, g = c.getContext("2d", { willReadFrequently: true })!, ink = getComputedStyle(c).color;
    (c.width = width * ratio), (c.height = height * ratio), g.scale(ratio, ratio);
    g.font = "12px sans-serif", (g.fillStyle = ink), (g.strokeStyle = "#8886");
    // A text over lines has a ground of its own.
    const ground = getComputedStyle(document.body).backgroundColor;
    const readable = (text: string, x: number, y: number, align: CanvasTextAlign) => {
      g.save(), (g.textAlign = align), (g.lineJoin = "round"), (g.lineWidth = 5), (g.strokeStyle = ground), g.setLineDash([]), g.strokeText(text, x, y), (g.fillStyle = ink), g.fillText(text, x, y), g.restore();
    };
    g.textAlign = "center";
    for (let e = lx.low; e <= lx.high; ++e) {
      const x = left + ((e - lx.low) / (lx.high - lx.low)) * (width - left - 12);
      g.beginPath(), g.moveTo(x, 12), g.lineTo(x, height - bottom), g.stroke(), g.fillText(short(10 ** e), x, height - bottom + 15);
    }
    g.fillText(props.x_title, (left + width) / 2, height - 6);
    g.textAlign = "right";
    for (let e = ly.low; e <= ly.high; ++e) {
      const y = height - bottom - ((e - ly.low) / (ly.high - ly.low)) * (height - bottom - 12);
      g.beginPath(), g.moveTo(left, y), g.lineTo(width - 12, y), g.stroke(), g.fillText(short(10 ** e), left - 6, y + 4);
    }
    g.save(), g.translate(13, (height - bottom) / 2), g.rotate(-Math.PI / 2), (g.textAlign = "center"), g.fillText(props.y_title, 0, 0), g.restore();
    for (const roof of roofs) {
      const at = (x: number) => ({ x, y: roof.slope > 0 ? Math.min(roof.most, roof.slope * x) : roof.most }) as P, bend = roof.slope > 0 ? roof.most / roof.slope : 0;
      g.save(), g.beginPath(), g.rect(left, 12, width - left - 12, height - bottom - 12), g.clip();
      g.beginPath(), (g.strokeStyle = ink), (g.lineWidth = 1.5), g.setLineDash([6, 3]);
      [10 ** lx.low, Math.max(10 ** lx.low, Math.min(bend, 10 ** lx.high)), 10 ** lx.high].forEach((x, i) => (i ? g.lineTo(px(at(x)), py(at(x))) : g.moveTo(px(at(x)), py(at(x)))));
      g.stroke(), g.restore();
      readable(roof.name, width - 16, py(at(10 ** lx.high)) - 4, "right");
    }
    const radius = (p: P) => 3 + 9 * Math.sqrt(p.size / most);
    props.points.forEach((p, i) => {
      g.beginPath(), g.arc(px(p), py(p), radius(p), 0, 7);
      (g.fillStyle = "#0072b2"), (g.globalAlpha = 0.55), g.fill(), (g.globalAlpha = 1);
      if (i === at || props.picked?.(p)) (g.strokeStyle = "#d55e00"), (g.lineWidth = 2), g.stroke();
    });
    const named = [...props.points].sort((a, b) => b.size - a.size).slice(0, 40);
    for (const { text, x, y } of place_names(named.map((p) => ({ item: p, text: p.name, short: p.name.length > 42 ? `${p.name.slice(0, 41)}…` : p.name, x: px(p), y: py(p), r: radius(p) })), { left, right: width - 12, top: 12, bottom: height - bottom }, (t) => g.measureText(t).width))
      readable(text, x, y, "left");
  });
  const near = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(), x = ((e.clientX - r.left) * width) / r.width, y = ((e.clientY - r.top) * height) / r.height;
    let best = -1, d = 400;
    props.points.forEach((p, i) => { const q = (px(p) - x) ** 2 + (py(p) - y) ** 2; if (q < d) (d = q), (best = i); });
    return best;
  };
  const key = (e: KeyboardEvent) => {
    const order = props.points.map((_, i) => i).sort((a, b) => px(props.points[a]!) - px(props.points[b]!)), here = order.indexOf(at);
    if (e.key === "ArrowRight" || e.key === "ArrowDown") set_at(order[Math.min(order.length - 1, here + 1)]!);
    else if (e.key === "ArrowLeft" || e.key === "ArrowUp") set_at(order[Math.max(0, here - 1)]!);
    else if (e.key === "Enter" && props.points[at]) props.on_pick?.(props.points[at]!);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={props.title + roofs.map((r) => `, under ${r.name}`).join("") + " (arrows go from point to point, Enter chooses)"} style={{ width: `${width}px`, maxWidth: "100%" }} onKeyDown={key} onMouseMove={(e) => set_at(near(e))}
        onClick={(e) => { const i = near(e); if (i >= 0) props.on_pick?.(props.points[i]!); }} />
      <p class="soft" style={{ whiteSpace: "pre-line", minHeight: "4.4em" }} aria-live="polite">{props.points[at] ? props.text(props.points[at]!) : "Point at a circle; its size is its share of the cycles."}</p>
    </div>
  );
}
