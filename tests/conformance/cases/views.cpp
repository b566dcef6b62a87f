// Every view of a tensor as the source and the destination of a copy and as an operand of a vertex.
#include "world.h"

namespace conformance {
namespace {

using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Execute;

// The base tensor has shape {2, 3, 4} and holds 0 ... 23: what a view holds is a list of element numbers.
constexpr std::size_t kElements = 24;
unsigned at(unsigned i, unsigned j, unsigned k) { return i * 12 + j * 4 + k; }

struct ViewRow {
  const char* name;
  Tensor (*view)(const Tensor&);
  std::vector<std::size_t> shape;
  unsigned (*element)(const std::vector<unsigned>& place);  // of the base tensor, at a place of the view
  bool repeats = false;
};

using P = const std::vector<unsigned>&;

std::vector<ViewRow> views() {
  return {
      {"whole", [](const Tensor& t) { return t; }, {2, 3, 4}, [](P p) { return at(p[0], p[1], p[2]); }},
      {"index", [](const Tensor& t) { return t[1]; }, {3, 4}, [](P p) { return at(1, p[0], p[1]); }},
      {"index_list", [](const Tensor& t) { return t.index({1, 2}); }, {4}, [](P p) { return at(1, 2, p[0]); }},
      {"scalar", [](const Tensor& t) { return t[1][2][3]; }, {}, [](P) { return 23u; }},
      {"slice", [](const Tensor& t) { return t.slice(1, 3, 2); }, {2, 3, 2}, [](P p) { return at(p[0], p[1], p[2] + 1); }},
      {"slice_interval", [](const Tensor& t) { return t.slice(poplar::Interval(1, 2)); }, {1, 3, 4}, [](P p) { return at(1, p[1], p[2]); }},
      {"slice_box",
       [](const Tensor& t) { return t.slice({0, 1, 2}, {2, 3, 4}); },
       {2, 2, 2},
       [](P p) { return at(p[0], p[1] + 1, p[2] + 2); }},
      {"slices",
       [](const Tensor& t) { return t.slices({poplar::Interval(0, 1), poplar::Interval(2, 3)}, 1)[1]; },
       {2, 1, 4},
       [](P p) { return at(p[0], 2, p[2]); }},
      {"reshape", [](const Tensor& t) { return t.reshape({4, 6}); }, {4, 6}, [](P p) { return p[0] * 6 + p[1]; }},
      {"reshape_partial",
       [](const Tensor& t) { return t.reshapePartial(1, 3, {6, 2}); },
       {2, 6, 2},
       [](P p) { return p[0] * 12 + p[1] * 2 + p[2]; }},
      {"flatten", [](const Tensor& t) { return t.flatten(); }, {24}, [](P p) { return p[0]; }},
      {"flatten_partial", [](const Tensor& t) { return t.flatten(0, 2); }, {6, 4}, [](P p) { return p[0] * 4 + p[1]; }},
      {"expand", [](const Tensor& t) { return t.expand({0, 2}); }, {1, 2, 3, 1, 4}, [](P p) { return at(p[1], p[2], p[4]); }},
      {"squeeze", [](const Tensor& t) { return t.slice(2, 3, 1).squeeze({1}); }, {2, 4}, [](P p) { return at(p[0], 2, p[1]); }},
      {"dim_shuffle", [](const Tensor& t) { return t.dimShuffle({2, 0, 1}); }, {4, 2, 3}, [](P p) { return at(p[1], p[2], p[0]); }},
      {"dim_shuffle_partial",
       [](const Tensor& t) { return t.dimShufflePartial({2}, {0}); },
       {4, 2, 3},
       [](P p) { return at(p[1], p[2], p[0]); }},
      {"dim_roll", [](const Tensor& t) { return t.dimRoll(1); }, {3, 2, 4}, [](P p) { return at(p[1], p[0], p[2]); }},
      {"transpose", [](const Tensor& t) { return t[0].transpose(); }, {4, 3}, [](P p) { return at(0, p[1], p[0]); }},
      {"reverse", [](const Tensor& t) { return t.reverse(2); }, {2, 3, 4}, [](P p) { return at(p[0], p[1], 3 - p[2]); }},
      {"sub_sample", [](const Tensor& t) { return t.subSample(2, 1); }, {2, 2, 4}, [](P p) { return at(p[0], p[1] * 2, p[2]); }},
      {"broadcast", [](const Tensor& t) { return t[0].broadcast(2, 0); }, {6, 4}, [](P p) { return at(0, p[0] % 3, p[1]); }, true},
      {"upsample",
       [](const Tensor& t) { return t[1].upsample(2, 1, poplar::UpsampleMethod::REPEAT); },
       {3, 8},
       [](P p) { return at(1, p[0], p[1] / 2); },
       true},
      {"concat",
       [](const Tensor& t) { return concat(t[1], t[0], 1); },
       {3, 8},
       [](P p) { return p[1] < 4 ? at(1, p[0], p[1]) : at(0, p[0], p[1] - 4); }},
      {"append", [](const Tensor& t) { return append(t.slice(0, 1), t[1]); }, {2, 3, 4}, [](P p) { return at(p[0], p[1], p[2]); }},
      {"reinterpret",
       [](const Tensor& t) { return t.reinterpret(poplar::INT).reinterpret(poplar::FLOAT); },
       {2, 3, 4},
       [](P p) { return at(p[0], p[1], p[2]); }},
      {"chain",
       [](const Tensor& t) { return t.dimShuffle({1, 2, 0}).reverse(0).slice(1, 3, 1).flatten(0, 2).subSample(2, 0); },
       {3, 2},
       [](P p) { return at(p[1], 2 - p[0], 1); }},
  };
}

std::vector<float> elements_of(const ViewRow& row) {
  std::vector<float> list;
  std::size_t total = 1;
  for (std::size_t n : row.shape) total *= n;
  for (std::size_t i = 0; i < total; ++i) {
    std::vector<unsigned> place(row.shape.size());
    std::size_t rest = i;
    for (std::size_t d = place.size(); d-- > 0; rest /= row.shape[d]) place[d] = static_cast<unsigned>(rest % row.shape[d]);
    list.push_back(static_cast<float>(row.element(place)));
  }
  return list;
}

void copy_from_views(World& w) {
  std::size_t n = 0;
  for (const ViewRow& row : views()) {
    const Tensor base = w.counting({2, 3, 4}, std::string("from.") + row.name), view = row.view(base);
    w.expect(view.shape() == row.shape, std::string(row.name) + ": shape " + view.shapeToString());
    w.expect(view.containsAliases() == row.repeats, std::string(row.name) + ": containsAliases");
    const Tensor out = w.variable(poplar::FLOAT, row.shape, std::string("out.") + row.name);
    w.program.add(Copy(view, out));
    w.readable(std::to_string(n++), out);
  }
  w.engine();
  w.run();
  n = 0;
  for (const ViewRow& row : views()) {
    const std::vector<float> want = elements_of(row);
    w.expect(w.read<float>(std::to_string(n++), want.size()), want, row.name);
  }
}

// Writes 100, 101 ... through each view over 0, 1, ...
std::vector<float> written_through(const ViewRow& row) {
  std::vector<float> base(kElements);
  for (std::size_t i = 0; i < kElements; ++i) base[i] = static_cast<float>(i);
  float next = 100;
  for (float element : elements_of(row)) base[static_cast<std::size_t>(element)] = next++;
  return base;
}

void copy_to_views(World& w) {
  std::size_t n = 0;
  for (const ViewRow& row : views()) {
    if (row.repeats) continue;
    const Tensor base = w.counting({2, 3, 4}, std::string("to.") + row.name);
    const Tensor values = w.counting(row.shape, std::string("values.") + row.name, 100);
    w.program.add(Copy(values, row.view(base)));
    w.readable(std::to_string(n++), base);
  }
  w.engine();
  w.run();
  n = 0;
  for (const ViewRow& row : views())
    if (!row.repeats) w.expect(w.read<float>(std::to_string(n++), kElements), written_through(row), row.name);
}

void operands(World& w) {
  w.add_codelets("fields.cpp");
  const poplar::ComputeSet set = w.graph.addComputeSet("operands");
  std::size_t n = 0;
  for (const ViewRow& row : views()) {
    const Tensor in = w.counting({2, 3, 4}, std::string("in.") + row.name);
    const Tensor sum = w.variable(poplar::FLOAT, row.shape, std::string("plus1.") + row.name);
    poplar::VertexRef v = w.vertex(set, "PlusOne");
    w.graph.connect(v["x"], row.view(in).flatten());
    w.graph.connect(v["y"], sum.flatten());
    w.readable("in" + std::to_string(n), sum);
    if (!row.repeats) {
      const Tensor out = w.counting({2, 3, 4}, std::string("out.") + row.name);
      const Tensor values = w.counting(row.shape, std::string("values.") + row.name, 99);
      v = w.vertex(set, "PlusOne");
      w.graph.connect(v["x"], values.flatten());
      w.graph.connect(v["y"], row.view(out).flatten());
      w.readable("out" + std::to_string(n), out);
    }
    ++n;
  }
  w.program.add(Execute(set));
  w.engine();
  w.run();
  n = 0;
  for (const ViewRow& row : views()) {
    std::vector<float> want = elements_of(row);
    for (float& value : want) value += 1;
    w.expect(w.read<float>("in" + std::to_string(n), want.size()), want, std::string(row.name) + " as input");
    if (!row.repeats)
      w.expect(w.read<float>("out" + std::to_string(n), kElements), written_through(row), std::string(row.name) + " as output");
    ++n;
  }
}

void overlapping_copies(World& w) {
  const Tensor v = w.counting({8}, "v"), m = w.counting({3, 3}, "m");
  w.program.add(Copy(v.slice(0, 6), v.slice(2, 8)));
  w.program.add(Copy(m.transpose(), m));
  w.readable("v", v);
  w.readable("m", m);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 8), {0, 1, 0, 1, 2, 3, 4, 5}, "a shift by two reads before it writes");
  w.expect(w.read<float>("m", 9), {0, 3, 6, 1, 4, 7, 2, 5, 8}, "a transpose in place");
}

}  // namespace

std::vector<Case> view_cases() {
  return {{"copy_from_views", copy_from_views},
          {"copy_to_views", copy_to_views},
          {"views_as_operands", operands},
          {"overlapping_copies", overlapping_copies}};
}

}  // namespace conformance
