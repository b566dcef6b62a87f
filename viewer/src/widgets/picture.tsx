// A picture of data that is larger than the screen: pan and zoom by mouse, wheel and WASD; a cross that arrow keys move; a readout.
import { useEffect, useRef } from "preact/hooks";
import { ReportError } from "../report/container.ts";
import { current, set } from "../state.ts";
import { Box, Chunk, Painter, painter_of } from "./painter.ts";

export interface Source {
  /** All of the data. */
  bounds: Box;
  /** What stands in a view of so many pixels; `later` is called when there is more to draw. */
  chunks(view: Box, width: number, height: number, later: () => void): Chunk[];
  /** Drawn over it, by data that have shapes of their own (names in rectangles). */
  over?(context: CanvasRenderingContext2D, view: Box, width: number, height: number): void;
  /** What stands at a place, for people. */
  at(x: number, y: number): string | undefined;
  /** The place of the next thing to the left or right (-1, 1). */
  next?(x: number, y: number, direction: number): number;
  x_title: string;
  x_label(x: number): string;
  y_label(y: number): string;
  /** y are bytes: its labels stand at powers of two. */
  binary_y?: boolean;
  /** The smallest piece that can be shown, in x and in y. */
  finest?: { x: number; y: number };
}

interface Props {
  /** Where the fragment keeps what is shown: `id`=x0,x1,y0,y1. */
  id: string;
  source: Source;
  height: number;
  title: string;
  on_pick?: (x: number, y: number) => void;
  /** What is marked: a place in x, a row. */
  mark?: { x?: number | undefined; y?: number | undefined };
  margin_left?: number;
  /** Pictures of one group show the same x. */
  group?: string;
}

const groups = new Map<string, Set<Controller>>();

const kBottom = 20;

function nice_step(span: number, parts: number): number {
  const raw = span / Math.max(1, parts), ten = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= raw) ?? 10 * ten;
}

class Controller {
  view: Box;
  cross: { x: number; y: number } | undefined;
  private unreadable = "";
  props!: Props;
  private frame = 0;
  private held = new Set<string>();
  private last_time = 0;
  private remember = 0;
  private painter: Painter | undefined;
  private making: number | undefined;
  private readonly over: CanvasRenderingContext2D;
  private readonly axis_x: CanvasRenderingContext2D;
  private readonly axis_y: CanvasRenderingContext2D;

  constructor(private readonly base: HTMLCanvasElement, private readonly top: HTMLCanvasElement, axes: HTMLCanvasElement[], private readonly readout: HTMLElement, props: Props) {
    this.props = props;
    // Few small shapes change in each frame: the processor draws them sooner than a graphics card's queue, and much sooner than an emulated card.
    [this.over, this.axis_x, this.axis_y] = [top, ...axes].map((c) => c.getContext("2d", { willReadFrequently: true })!) as [CanvasRenderingContext2D, CanvasRenderingContext2D, CanvasRenderingContext2D];
    this.view = this.from_fragment() ?? { ...props.source.bounds };
  }

  from_fragment(): Box | undefined {
    const numbers = (current().params[this.props.id] ?? "").split(",").map(Number);
    if (numbers.length !== 4 || !numbers.every(Number.isFinite) || numbers[0]! >= numbers[1]! || numbers[2]! >= numbers[3]!) return undefined;
    return { x0: numbers[0]!, x1: numbers[1]!, y0: numbers[2]!, y1: numbers[3]! };
  }
  private to_fragment() {
    clearTimeout(this.remember);
    this.remember = window.setTimeout(() => {
      const b = this.props.source.bounds, v = this.view;
      const whole = v.x0 === b.x0 && v.x1 === b.x1 && v.y0 === b.y0 && v.y1 === b.y1;
      set({ [this.props.id]: whole ? "" : [v.x0, v.x1, v.y0, v.y1].map((n) => +n.toPrecision(9)).join(",") });
    }, 300);
  }

  left(): number {
    return this.props.margin_left ?? 56;
  }
  width(): number {
    return Math.max(1, this.top.clientWidth - this.left());
  }
  height(): number {
    return this.props.height - kBottom;
  }
  x_at(px: number): number {
    return this.view.x0 + ((px - this.left()) / this.width()) * (this.view.x1 - this.view.x0);
  }
  y_at(py: number): number {
    return this.view.y0 + (py / this.height()) * (this.view.y1 - this.view.y0);
  }
  px_of(x: number): number {
    return this.left() + ((x - this.view.x0) / (this.view.x1 - this.view.x0)) * this.width();
  }
  py_of(y: number): number {
    return ((y - this.view.y0) / (this.view.y1 - this.view.y0)) * this.height();
  }

  private clamp() {
    const b = this.props.source.bounds, v = this.view, f = this.props.source.finest ?? { x: 1, y: 1 };
    const fit = (low: number, high: number, begin: number, end: number, least: number): [number, number] => {
      const span = Math.min(end - begin, Math.max(high - low, Math.min(least, end - begin)));
      const from = Math.min(end - span, Math.max(begin, low));
      return [from, from + span];
    };
    [v.x0, v.x1] = fit(v.x0, v.x1, b.x0, b.x1, f.x);
    [v.y0, v.y1] = fit(v.y0, v.y1, b.y0, b.y1, f.y);
  }
  move(dx: number, dy: number) {
    const v = this.view;
    (v.x0 += dx), (v.x1 += dx), (v.y0 += dy), (v.y1 += dy);
    this.moved();
  }
  zoom(fx: number, fy: number, x: number, y: number) {
    const v = this.view;
    (v.x0 = x + (v.x0 - x) * fx), (v.x1 = x + (v.x1 - x) * fx), (v.y0 = y + (v.y0 - y) * fy), (v.y1 = y + (v.y1 - y) * fy);
    this.moved();
  }
  whole() {
    this.view = { ...this.props.source.bounds };
    this.moved();
  }
  private moved() {
    this.clamp();
    this.to_fragment();
    this.draw_soon();
    for (const other of this.group()) if (other !== this) other.follow(this.view);
  }
  private group(): Set<Controller> | [] {
    return (this.props.group && groups.get(this.props.group)) || [];
  }
  private follow(view: Box) {
    (this.view.x0 = view.x0), (this.view.x1 = view.x1);
    this.clamp();
    this.to_fragment();
    this.draw_soon();
  }
  /** Brings a part of x into view. */
  show(x0: number, x1: number) {
    (this.view.x0 = x0), (this.view.x1 = x1);
    this.moved();
  }

  // When there is something to paint, and behind the first frame: many pictures have shapes of their own alone, and WebGL takes long to begin.
  private make_painter_soon() {
    this.making ??= window.setTimeout(() => {
      this.painter = painter_of(this.base, new URLSearchParams(location.search).get("gl"));
      this.base.dataset["painter"] = this.painter.name;
      if (this.frame >= 0) this.draw_soon();
    });
  }

  draw_soon = () => {
    if (!this.frame) this.frame = requestAnimationFrame((t) => this.draw(t));
  };

  private go_on(time: number): boolean {
    const seconds = Math.min(0.1, this.last_time ? (time - this.last_time) / 1000 : 1 / 60);
    this.last_time = this.held.size ? time : 0;
    if (!this.held.size) return false;
    const v = this.view, x = this.cross?.x ?? (v.x0 + v.x1) / 2, y = this.cross?.y ?? (v.y0 + v.y1) / 2;
    const f = Math.exp(-2.2 * seconds), pan = 0.9 * seconds * (v.x1 - v.x0), pan_y = 0.9 * seconds * (v.y1 - v.y0);
    const fx = this.held.has("w") ? f : this.held.has("s") ? 1 / f : 1, fy = this.held.has("W") ? f : this.held.has("S") ? 1 / f : 1;
    if (fx !== 1 || fy !== 1) this.zoom(fx, fy, x, y);
    const dx = (this.held.has("d") ? pan : 0) - (this.held.has("a") ? pan : 0), dy = (this.held.has("D") ? pan_y : 0) - (this.held.has("A") ? pan_y : 0);
    if (dx || dy) this.move(dx, dy);
    return true;
  }

  private draw(time: number) {
    this.frame = 0;
    const again = this.go_on(time);
    const ratio = Math.min(2, devicePixelRatio || 1), width = this.width(), height = this.height();
    const size = (c: HTMLCanvasElement, w: number, h: number) => {
      const pw = Math.round(w * ratio), ph = Math.round(h * ratio);
      if (c.width !== pw || c.height !== ph) (c.width = pw), (c.height = ph);
    };
    size(this.base, width, height);
    size(this.top, this.top.clientWidth, this.props.height);
    size(this.axis_x.canvas, width, kBottom);
    size(this.axis_y.canvas, this.left(), height);
    try {
      const chunks = this.props.source.chunks(this.view, width * ratio, height * ratio, this.draw_soon);
      if (this.painter) this.painter.paint(chunks, this.view);
      else if (chunks.length > 0) this.make_painter_soon();
    } catch (error) {
      if (!(error instanceof ReportError)) throw error;
      this.unreadable = error.message;
    }
    const c = this.over;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.top.clientWidth, this.props.height);
    if (this.props.source.over) {
      c.save();
      c.beginPath();
      c.rect(this.left(), 0, width, height);
      c.clip();
      c.translate(this.left(), 0);
      c.textAlign = "left";
      this.props.source.over(c, this.view, width, height);
      c.restore();
    }
    for (const axis of [this.axis_x, this.axis_y]) axis.setTransform(ratio, 0, 0, ratio, 0, 0), axis.clearRect(0, 0, this.top.clientWidth, this.props.height);
    this.axes(this.axis_x, this.axis_y, width, height);
    this.marks(c, width, height);
    // A layer that shows nothing costs a browser as much as one that does.
    const m = this.props.mark;
    this.top.style.opacity = this.props.source.over || this.cross || m?.x !== undefined || m?.y !== undefined ? "1" : "0";
    if (this.unreadable) (this.readout.hidden = false), (this.readout.textContent = this.unreadable), (this.readout.style.top = "8px"), (this.readout.style.left = `${this.left() + 8}px`);
    else this.read_out();
    if (again) this.draw_soon();
  }

  private axes(x_axis: CanvasRenderingContext2D, y_axis: CanvasRenderingContext2D, width: number, height: number) {
    const style = getComputedStyle(this.top), s = this.props.source, v = this.view, left = this.left();
    for (const c of [x_axis, y_axis]) (c.font = `12px ${style.fontFamily}`), (c.fillStyle = style.color);
    y_axis.textBaseline = "middle";
    y_axis.textAlign = "right";
    const rows = nice_step(v.y1 - v.y0, height / 22);
    const by = s.binary_y ? 2 ** Math.max(0, Math.ceil(Math.log2((v.y1 - v.y0) / (height / 30)))) : Math.max(1, Math.round(rows));
    for (let y = Math.ceil(v.y0 / by) * by; y < v.y1; y += by) {
      const py = this.py_of(y + 0.5);
      if (py > 6 && py < height - 4) y_axis.fillText(s.y_label(y), left - 6, py, left - 8);
    }
    x_axis.textBaseline = "top";
    x_axis.textAlign = "center";
    const step = nice_step(v.x1 - v.x0, width / 110);
    for (let x = Math.ceil(v.x0 / step) * step; x <= v.x1; x += step) {
      const px = this.px_of(x) - left;
      if (px > 15 && px < width - 70) {
        x_axis.fillText(s.x_label(x), px, 4);
        x_axis.globalAlpha = 0.35;
        x_axis.fillRect(px, 0, 1, 4);
        x_axis.globalAlpha = 1;
      }
    }
    x_axis.textAlign = "right";
    x_axis.fillText(s.x_title, width - 2, 4);
  }

  private marks(c: CanvasRenderingContext2D, width: number, height: number) {
    const style = getComputedStyle(this.top), m = this.props.mark;
    c.strokeStyle = style.color;
    c.lineWidth = 1.5;
    const line = (x0: number, y0: number, x1: number, y1: number) => (c.beginPath(), c.moveTo(x0, y0), c.lineTo(x1, y1), c.stroke());
    if (m?.x !== undefined && m.x >= this.view.x0 && m.x <= this.view.x1) line(this.px_of(m.x), 0, this.px_of(m.x), height);
    if (m?.y !== undefined) {
      const py = this.py_of(m.y + 0.5);
      if (py > 0 && py < height) {
        c.beginPath(), c.moveTo(this.left() - 7, py - 4), c.lineTo(this.left() - 1, py), c.lineTo(this.left() - 7, py + 4), c.fill();
        c.globalAlpha = 0.6;
        const half = Math.max(2, (this.py_of(m.y + 1) - this.py_of(m.y)) / 2);
        c.strokeRect(this.left(), py - half, width, 2 * half);
        c.globalAlpha = 1;
      }
    }
    if (this.cross) {
      const px = this.px_of(this.cross.x), py = this.py_of(this.cross.y);
      c.setLineDash([3, 3]);
      if (px >= this.left()) line(px, 0, px, height);
      if (py <= height) line(this.left(), py, this.left() + width, py);
      c.setLineDash([]);
    }
  }

  private read_out() {
    const text = this.cross && this.props.source.at(this.cross.x, this.cross.y);
    this.readout.hidden = !text;
    if (!text || !this.cross) return;
    this.readout.textContent = text;
    const px = this.px_of(this.cross.x), py = this.py_of(this.cross.y), all = this.top.clientWidth;
    const right = px > all / 2;
    this.readout.style.left = right ? "" : `${px + 14}px`;
    this.readout.style.right = right ? `${all - px + 14}px` : "";
    const low = py > this.height() / 2;
    this.readout.style.top = low ? "" : `${py + 12}px`;
    this.readout.style.bottom = low ? `${this.props.height - py + 8}px` : "";
  }

  key_down = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const v = this.view, middle = { x: (v.x0 + v.x1) / 2, y: Math.floor((v.y0 + v.y1) / 2) + 0.5 };
    if (/^[wasdWASD]$/.test(e.key)) {
      this.held.add(e.key);
      this.draw_soon();
    } else if (e.key.startsWith("Arrow")) {
      const c = (this.cross ??= middle), source = this.props.source, many = e.shiftKey ? 10 : 1;
      for (let i = 0; i < many; ++i) {
        if (e.key === "ArrowUp" || e.key === "ArrowDown") c.y = Math.min(source.bounds.y1 - 0.5, Math.max(source.bounds.y0 + 0.5, Math.floor(c.y) + 0.5 + (e.key === "ArrowUp" ? -1 : 1)));
        else {
          const d = e.key === "ArrowLeft" ? -1 : 1;
          c.x = source.next ? source.next(c.x, c.y, d) : Math.min(source.bounds.x1 - 0.5, Math.max(source.bounds.x0 + 0.5, Math.floor(c.x) + 0.5 + d));
        }
      }
      const dx = c.x < v.x0 || c.x > v.x1 ? c.x - middle.x : 0, dy = c.y < v.y0 || c.y > v.y1 ? c.y - middle.y : 0;
      if (dx || dy) this.move(dx, dy);
      this.draw_soon();
    } else if (e.key === "Enter" && this.cross) this.props.on_pick?.(this.cross.x, this.cross.y);
    else if (e.key === "+" || e.key === "=") this.zoom(0.5, 1, this.cross?.x ?? middle.x, middle.y);
    else if (e.key === "-") this.zoom(2, 1, this.cross?.x ?? middle.x, middle.y);
    else if (e.key === "0") this.whole();
    else if (e.key === "Escape") (this.cross = undefined), this.draw_soon();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  key_up = (e: KeyboardEvent) => {
    this.held.delete(e.key.toLowerCase());
    this.held.delete(e.key.toUpperCase());
  };
  let_go = () => this.held.clear();

  attach(): () => void {
    const top = this.top;
    let drag: { x: number; y: number; moved: boolean } | undefined;
    const place = (e: PointerEvent | WheelEvent) => {
      const r = top.getBoundingClientRect();
      return { px: e.clientX - r.left, py: e.clientY - r.top };
    };
    const down = (e: PointerEvent) => {
      top.setPointerCapture(e.pointerId);
      drag = { x: e.clientX, y: e.clientY, moved: false };
    };
    const move = (e: PointerEvent) => {
      const { px, py } = place(e);
      if (drag) {
        const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
        if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
        drag = { x: e.clientX, y: e.clientY, moved: true };
        this.move((-dx / this.width()) * (this.view.x1 - this.view.x0), (-dy / this.height()) * (this.view.y1 - this.view.y0));
      }
      this.cross = px >= this.left() && py < this.height() ? { x: this.x_at(px), y: this.y_at(py) } : undefined;
      this.draw_soon();
    };
    const up = (e: PointerEvent) => {
      const { px, py } = place(e);
      if (drag && !drag.moved && py < this.height()) this.props.on_pick?.(this.x_at(Math.max(this.left(), px)), this.y_at(py));
      drag = undefined;
    };
    const leave = () => {
      this.cross = undefined;
      this.draw_soon();
    };
    const wheel = (e: WheelEvent) => {
      e.preventDefault();
      const { px, py } = place(e), f = Math.exp(e.deltaY * 0.0015);
      if (e.shiftKey) this.zoom(1, Math.exp((e.deltaY || e.deltaX) * 0.0015), this.x_at(px), this.y_at(py));
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.move((e.deltaX / this.width()) * (this.view.x1 - this.view.x0), 0);
      else this.zoom(f, 1, this.x_at(Math.max(this.left(), px)), this.y_at(py));
    };
    const twice = () => this.whole();
    const seen = new ResizeObserver(this.draw_soon);
    seen.observe(top);
    const group = this.props.group;
    if (group) groups.set(group, (groups.get(group) ?? new Set()).add(this));
    const listen: [string, EventListener, AddEventListenerOptions?][] = [
      ["pointerdown", down as EventListener], ["pointermove", move as EventListener], ["pointerup", up as EventListener], ["pointerleave", leave],
      ["wheel", wheel as EventListener, { passive: false }], ["dblclick", twice], ["keydown", this.key_down as EventListener], ["keyup", this.key_up as EventListener], ["blur", this.let_go],
    ];
    for (const [name, f, options] of listen) top.addEventListener(name, f, options);
    return () => {
      for (const [name, f] of listen) top.removeEventListener(name, f);
      seen.disconnect();
      if (group) groups.get(group)?.delete(this);
      cancelAnimationFrame(this.frame);
      clearTimeout(this.remember);
      this.frame = -1;
    };
  }
}

/** Brings a part of x into view, in all pictures of a group. */
export function show_in_group(group: string, x0: number, x1: number) {
  const first = [...(groups.get(group) ?? [])][0];
  first?.show(x0, x1);
}

export function Picture(props: Props) {
  const base = useRef<HTMLCanvasElement>(null), top = useRef<HTMLCanvasElement>(null), axis_x = useRef<HTMLCanvasElement>(null), axis_y = useRef<HTMLCanvasElement>(null), readout = useRef<HTMLDivElement>(null);
  const controller = useRef<Controller | null>(null);
  useEffect(() => {
    const c = new Controller(base.current!, top.current!, [axis_x.current!, axis_y.current!], readout.current!, props);
    controller.current = c;
    const detach = c.attach();
    c.draw_soon();
    return detach;
  }, [props.id]);
  useEffect(() => {
    const c = controller.current!;
    if (c.props.source !== props.source) {
      const b = props.source.bounds, old = c.props.source.bounds;
      if (b.x0 !== old.x0 || b.x1 !== old.x1 || b.y0 !== old.y0 || b.y1 !== old.y1) c.view = { ...b };
    }
    c.props = props;
    c.draw_soon();
  });
  const left = props.margin_left ?? 56;
  return (
    <div class="picture" style={{ height: `${props.height}px` }}>
      <canvas ref={base} style={{ position: "absolute", left: `${left}px`, top: 0, width: `calc(100% - ${left}px)`, height: `${props.height - kBottom}px` }} />
      <canvas ref={axis_x} style={{ position: "absolute", left: `${left}px`, bottom: 0, width: `calc(100% - ${left}px)`, height: `${kBottom}px` }} />
      <canvas ref={axis_y} style={{ position: "absolute", left: 0, top: 0, width: `${left}px`, height: `${props.height - kBottom}px` }} />
      <canvas ref={top} tabIndex={0} role="img" aria-label={props.title + " (keys: WASD pan and zoom, arrows move the cross, Enter chooses, 0 shows all)"}
        style={{ position: "relative", height: `${props.height}px`, color: "var(--ink)" }} />
      <div ref={readout} class="readout" hidden />
    </div>
  );
}
