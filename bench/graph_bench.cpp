// Building and compiling a graph of 1 to 32 IPUs, six vertices on each tile and a halo exchange; loading the executable again.
// Each size is measured in a process of its own, so that its peak memory is its own. `--svg FILE` draws the curve.
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <sstream>

#include "base/testing/places.h"
#include "bench.h"
#include "codelet/hand_made.h"
#include "compile/compile.h"
#include "exec/runner.h"
#include "graph/graph.h"

namespace pando::bench {
namespace {

constexpr unsigned kWorkers = 6, kFloats = 16;

struct Point {
  unsigned ipus = 0;
  double build = 0, compile = 0, load = 0;  // seconds
  double mebibytes = 0;                     // peak, building and compiling
  double file_mebibytes = 0;
};

struct HaloObject {
  VectorEdge x, y;
};
bool halo_kernel(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (std::uint64_t v = 0; v < count; ++v) {
    const auto* o = reinterpret_cast<const HaloObject*>(first + v * stride);
    const auto* x = static_cast<const float*>(o->x.data);
    auto* y = static_cast<float*>(o->y.data);
    for (std::uint64_t i = 0; i < o->y.size; ++i) y[i] = (x[i] + x[i + 1] + x[i + 2]) / 3;
  }
  return true;
}

Codelet halo_codelet() {
  Codelet c =
      hand_made_codelet<HaloObject>("Halo", {hand_made_field("x", FieldKind::input), hand_made_field("y", FieldKind::output)}, halo_kernel);
  c.code_bytes = 128;
  c.stack_bytes = 64;
  return c;
}

// x and y: one row of 96 floats per tile. Each vertex reads 16 floats and one neighbour on either side, which at the ends of a
// tile's row are on the next tile.
std::vector<graph::ProgramPtr> build(graph::Graph& g) {
  g.library().add_builtin("bench", {halo_codelet()});
  const std::size_t row = kWorkers * kFloats, n = g.machine().tiles() * row;
  graph::View v[2];
  for (int i = 0; i < 2; ++i) {
    v[i] = g.view(g.add_variable(ElementType::float_, {n + 2}, i == 0 ? "x" : "y"));
    const std::uint32_t tiles = g.machine().tiles();
    std::vector<graph::MappedInterval> mapping;
    for (std::uint32_t t = 0; t < tiles; ++t)
      mapping.push_back({{t == 0 ? 0 : t * row + 1, t + 1 == tiles ? n + 2 : (t + 1) * row + 1}, TileId(t)});
    g.set_tile_mapping(v[i], mapping);
    g.set_initial_value(v[i], std::string(4 * (n + 2), '\0'));
  }
  const ComputeSetId set = g.add_compute_set("smooth");
  for (std::size_t b = 0; b < n / kFloats; ++b) {
    const VertexId vertex = g.add_vertex(set, "Halo");
    g.set_tile_mapping(vertex, TileId(static_cast<std::uint32_t>(b / kWorkers)));
    g.connect({vertex, "x", {}}, v[0].slice(b * kFloats, b * kFloats + kFloats + 2, 0));
    g.connect({vertex, "y", {}}, v[1].slice(b * kFloats + 1, b * kFloats + kFloats + 1, 0));
  }
  const std::vector<graph::ProgramPtr> steps = {graph::make_program(graph::Execute{set, {}}),
                                                graph::make_program(graph::Copy{v[1].slice(1, n + 1, 0), v[0].slice(1, n + 1, 0)})};
  g.add_host_handle("x", v[0], true, false);
  return {graph::make_program(graph::Repeat{10, graph::make_program(graph::Sequence{steps})})};
}

Point measure(unsigned ipus) {
  Point p;
  p.ipus = ipus;
  Machine machine = *find_machine("ipu2");
  machine.ipus = ipus;
  graph::Graph g(machine, 1);
  std::vector<graph::ProgramPtr> programs;
  p.build = seconds_of([&] { programs = build(g); });
  compile::Result result;
  p.compile = seconds_of([&] {
    graph::verify(g, programs);
    result = compile::compile(g, programs, {});
  });
  p.mebibytes = peak_mebibytes();
  std::ostringstream out;
  tile::write(*result.program, out);
  const std::string bytes = out.str();
  p.file_mebibytes = static_cast<double>(bytes.size()) / (1 << 20);
  result.program.reset();
  p.load = seconds_of([&] {
    std::istringstream in(bytes);
    exec::Runner runner(std::make_shared<tile::Program>(tile::read(in)), g.library(), {});
  });
  return p;
}

Point measured_in_a_process(unsigned ipus) {
  Point p;
  int ends[2];
  if (pipe(ends) != 0) return p;
  const pid_t child = fork();
  if (child == 0) {
    const Point mine = measure(ipus);
    _exit(::write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
  }
  close(ends[1]);
  const bool complete = ::read(ends[0], &p, sizeof p) == sizeof p;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!complete || status != 0) fmt::print("{} IPUs: failed\n", ipus), std::exit(1);
  return p;
}

// Seconds over IPUs: points, a line through them, and the straight line from nothing to the last.
void draw(const std::vector<Point>& points, const std::string& path) {
  const double width = 640, height = 400, left = 60, bottom = 40;
  double most = 0;
  for (const Point& p : points) most = std::max(most, p.build + p.compile);
  const auto x = [&](double ipus) { return left + ipus / points.back().ipus * (width - left - 20); };
  const auto y = [&](double seconds) { return height - bottom - seconds / most * (height - bottom - 30); };
  std::ofstream out(path);
  out << fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n",
                     width, height)
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << fmt::format("<text x=\"{}\" y=\"18\">Building and compiling: seconds over IPUs (1,472 tiles each, 6 vertices per tile)</text>\n",
                     left)
      << fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" fill=\"none\" stroke=\"black\"/>\n", left, y(most), y(0),
                     x(points.back().ipus))
      << fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#999\" stroke-dasharray=\"4\"/>\n", x(0), y(0),
                     x(points.back().ipus), y(points.back().build + points.back().compile));
  std::string line;
  for (const Point& p : points) {
    const double px = x(p.ipus), py = y(p.build + p.compile);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", px, py);
    out << fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#06c\"/>\n", px, py)
        << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", px, y(0) + 16, p.ipus)
        << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.2f} s</text>\n", px - 6, py - 6, p.build + p.compile);
  }
  out << "<path d=\"" << line << "\" fill=\"none\" stroke=\"#06c\" stroke-width=\"2\"/>\n</svg>\n";
}

int run(const std::string& svg, unsigned most_ipus) {
  std::vector<Point> points;
  for (unsigned ipus = 1; ipus <= most_ipus; ipus *= 2) points.push_back(measured_in_a_process(ipus));
  fmt::print("{:>5} {:>8} {:>9} {:>9} {:>10} {:>10} {:>8} {:>14}\n", "IPUs", "tiles", "build s", "compile s", "peak MiB", "file MiB",
             "load s", "ms per IPU");
  for (const Point& p : points)
    fmt::print("{:>5} {:>8} {:>9.3f} {:>9.3f} {:>10.0f} {:>10.1f} {:>8.3f} {:>14.1f}\n", p.ipus, p.ipus * 1472, p.build, p.compile,
               p.mebibytes, p.file_mebibytes, p.load, 1e3 * (p.build + p.compile) / p.ipus);
  const Point& last = points.back();
  const std::string size = fmt::format("{} tiles x 6 vertices, halo", last.ipus * 1472);
  print_figure({.what = "build + compile, " + size, .unit = "s", .ours = last.build + last.compile, .at_most = 10});
  print_figure({.what = "peak memory of that", .unit = "GiB", .ours = last.mebibytes / 1024, .at_most = 4});
  print_figure({.what = "loading its executable", .unit = "s", .ours = last.load, .at_most = 1});
  // Linear growth: the time per IPU of the largest graph against that of the smallest whose time is not noise.
  const Point& base = points[points.size() > 3 ? 2 : 0];
  print_figure({.what = fmt::format("build + compile per IPU, {} IPUs", last.ipus),
                .unit = "ms",
                .ours = 1e3 * (last.build + last.compile) / last.ipus,
                .peer = 1e3 * (base.build + base.compile) / base.ipus,
                .peer_name = fmt::format("{} IPUs", base.ipus),
                .at_most = 1.5});
  if (svg.empty()) return 0;
  draw(points, svg);
  fmt::print("picture: {}\n", svg);
  return 0;
}

}  // namespace
}  // namespace pando::bench

int main(int argc, char** argv) {
  std::string svg = pando::build_path("bench/compile_curve.svg");
  unsigned most = 32;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--svg") svg = argv[i + 1];
    if (std::string(argv[i]) == "--ipus") most = static_cast<unsigned>(std::stoul(argv[i + 1]));
  }
  return pando::bench::run(svg, most);
}
