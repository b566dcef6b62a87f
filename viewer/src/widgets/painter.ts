// Draws rectangles of pixels that stand somewhere in data coordinates: on WebGL2, or on a 2D canvas where no graphics card does it.
export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}
export interface Pixels {
  width: number;
  height: number;
  rgba: Uint8ClampedArray;
}
/** Pixels with a place. The same key has the same pixels. Rows run downwards: y0 is the top of the first one. */
export interface Chunk extends Box {
  key: string;
  pixels: Pixels;
  /** It is still being made: it has other pixels in the next frame. */
  partial?: boolean;
}

export interface Painter {
  readonly name: string;
  /** Clears the canvas and draws; view is what the whole canvas shows. */
  paint(chunks: Chunk[], view: Box): void;
}

// Textures and canvases that are kept, at most.
const kKept = 96;

class Kept<T> {
  private readonly items = new Map<string, T>();
  private scratch: T | undefined;
  /** `make` fills what it is given, if that is something. */
  constructor(private readonly make: (p: Pixels, into?: T) => T, private readonly drop: (t: T) => void) {}
  get(chunk: Chunk): T {
    if (chunk.partial) return (this.scratch = this.make(chunk.pixels, this.scratch));
    let item = this.items.get(chunk.key);
    if (item === undefined) item = this.make(chunk.pixels);
    else this.items.delete(chunk.key);
    this.items.set(chunk.key, item);
    if (this.items.size > kKept) {
      const [oldest, old] = this.items.entries().next().value!;
      this.items.delete(oldest);
      this.drop(old);
    }
    return item;
  }
}

class FlatPainter implements Painter {
  readonly name = "canvas";
  private readonly kept = new Kept<HTMLCanvasElement>((p, into) => {
    const canvas = into ?? document.createElement("canvas");
    if (canvas.width !== p.width || canvas.height !== p.height) (canvas.width = p.width), (canvas.height = p.height);
    canvas.getContext("2d", { willReadFrequently: true })!.putImageData(new ImageData(p.rgba as Uint8ClampedArray<ArrayBuffer>, p.width, p.height), 0, 0);
    return canvas;
  }, () => {});
  constructor(private readonly canvas: HTMLCanvasElement, private readonly context: CanvasRenderingContext2D) {}

  paint(chunks: Chunk[], view: Box) {
    const { width, height } = this.canvas, c = this.context;
    c.clearRect(0, 0, width, height);
    const sx = width / (view.x1 - view.x0), sy = height / (view.y1 - view.y0);
    for (const k of chunks) {
      const w = (k.x1 - k.x0) * sx, h = (k.y1 - k.y0) * sy;
      c.imageSmoothingEnabled = w < k.pixels.width || h < k.pixels.height;
      c.drawImage(this.kept.get(k), (k.x0 - view.x0) * sx, (k.y0 - view.y0) * sy, w, h);
    }
  }
}

const kVertex = `#version 300 es
uniform vec4 place;
out vec2 uv;
void main() {
  uv = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(mix(place.xy, place.zw, uv), 0.0, 1.0);
}`;
const kFragment = `#version 300 es
precision mediump float;
uniform sampler2D pixels;
in vec2 uv;
out vec4 colour;
void main() { vec4 c = texture(pixels, uv); colour = vec4(c.rgb * c.a, c.a); }`;

class GlPainter implements Painter {
  readonly name = "webgl2";
  private readonly place: WebGLUniformLocation;
  private readonly kept: Kept<WebGLTexture>;
  constructor(private readonly canvas: HTMLCanvasElement, private readonly gl: WebGL2RenderingContext) {
    const program = gl.createProgram()!;
    for (const [kind, source] of [[gl.VERTEX_SHADER, kVertex], [gl.FRAGMENT_SHADER, kFragment]] as const) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("WebGL2: " + gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.place = gl.getUniformLocation(program, "place")!;
    this.kept = new Kept<WebGLTexture>((p, into) => this.texture(p, into), (t) => gl.deleteTexture(t));
  }

  private texture(p: Pixels, into?: WebGLTexture): WebGLTexture {
    const gl = this.gl, texture = into ?? gl.createTexture()!;
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, p.width, p.height, 0, gl.RGBA, gl.UNSIGNED_BYTE, p.rgba);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }

  paint(chunks: Chunk[], view: Box) {
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const sx = 2 / (view.x1 - view.x0), sy = 2 / (view.y1 - view.y0);
    for (const k of chunks) {
      gl.bindTexture(gl.TEXTURE_2D, this.kept.get(k));
      gl.uniform4f(this.place, (k.x0 - view.x0) * sx - 1, 1 - (k.y0 - view.y0) * sy, (k.x1 - view.x0) * sx - 1, 1 - (k.y1 - view.y0) * sy);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }
}

let has_card: boolean | undefined;
/** Whether a graphics card does WebGL2. An emulated one is much slower than a 2D canvas. */
function graphics_card(): boolean {
  if (has_card === undefined) {
    const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    const named = gl?.getExtension("WEBGL_debug_renderer_info"), name = gl && String(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    has_card = !!name && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return has_card;
}

/** WebGL2 where a graphics card does it. The page's parameter gl=on or gl=off chooses. */
export function painter_of(canvas: HTMLCanvasElement, choice: string | null): Painter {
  if (choice === "on" || (choice !== "off" && graphics_card())) {
    const gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
    if (gl) return new GlPainter(canvas, gl);
  }
  return new FlatPainter(canvas, canvas.getContext("2d", { willReadFrequently: true })!);
}
