// Arrows of messages between lanes.
export function draw_arrow(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number) {
  const style = getComputedStyle(c.canvas).color, angle = Math.atan2(y1 - y0, x1 - x0);
  c.strokeStyle = c.fillStyle = style;
  c.lineWidth = 1;
  c.globalAlpha = 0.75;
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
  c.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
  c.fill();
  c.globalAlpha = 1;
}
