// Every form of a vertex's fields, through popc.
#include "world.h"

#include <poplar/TypeConversion.hpp>

namespace conformance {
namespace {

using poplar::Tensor;
using poplar::VertexRef;
using poplar::program::Execute;

void scalars(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor t = w.variable(poplar::FLOAT, {4}, std::vector<float>{2, 3, 0, 5}, "t");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "Scalars");
  w.graph.connect(v["a"], t[0]);
  w.graph.connect(v["b"], t[1]);
  w.graph.connect(v["sum"], t[2]);
  w.graph.connect(v["product"], t[3]);
  w.program.add(Execute(set));
  w.readable("t", t);
  w.engine();
  w.run();
  w.expect(w.read<float>("t", 4), {2, 3, 5, 10}, "sum and product");
}

void state(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor t = w.counting({5}, "t");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "State");
  w.graph.connect(v["v"], t);
  w.graph.setInitialValue(v["factor"], 2.0f);
  w.graph.setInitialValue(v["negate"], true);
  w.graph.setInitialValue(v["times"], 2);
  w.graph.setFieldSize(v["weights"], 3);
  w.graph.setInitialValue(v["weights"], poplar::ArrayRef<float>({1, 10, 100}));
  w.program.add(Execute(set));
  w.readable("t", t);
  w.engine();
  w.run();
  w.expect(w.read<float>("t", 5), {-3, -34, -308, -15, -46}, "t * 2 + w, twice, negated");
}

void rows(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor in = w.counting({3, 4}, "in"), both = w.counting({4, 3}, "both", 100);
  const Tensor out = w.variable(poplar::FLOAT, {12}, "out");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "Rows");
  w.graph.connect(v["in"], in);
  w.graph.connect(v["out"], std::vector<Tensor>{out.slice(8, 12), out.slice(4, 8), out.slice(0, 4)});
  w.graph.setFieldSize(v["both"], 3);
  for (unsigned r = 0; r < 3; ++r) w.graph.connect(v["both"][r], both.transpose()[r]);
  w.expect(w.graph.getFieldSize(v["both"]) == 3, "getFieldSize");
  w.program.add(Execute(set));
  w.readable("out", out);
  w.readable("both", both);
  w.engine();
  w.run();
  w.expect(w.read<float>("out", 12), {16, 18, 20, 22, 8, 10, 12, 14, 0, 2, 4, 6}, "rows in another order");
  w.expect(w.read<float>("both", 12), {100, 105, 110, 104, 109, 114, 108, 113, 118, 112, 117, 122}, "columns as rows, in place");
}

void scalar_vector(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor in = w.counting({5}, "in"), out = w.variable(poplar::FLOAT, {5}, "out");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "ScalarVector");
  w.graph.connect(v["in"], in);
  w.graph.setFieldSize(v["out"], 5);
  for (unsigned i = 0; i < 5; ++i) w.graph.connect(v["out"][i], out[i]);
  w.program.add(Execute(set));
  w.readable("out", out);
  w.engine();
  w.run();
  w.expect(w.read<float>("out", 5), {4, 3, 2, 1, 0}, "a vector of scalar edges");
}

void vector_lists(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor in = w.counting({6}, "in"), out = w.variable(poplar::FLOAT, {2}, "out");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  unsigned i = 0;
  for (const char* layout : {"DELTANELEMENTS", "COMPACT_DELTAN"}) {
    const VertexRef v = w.vertex(set, std::string("Lists<poplar::VectorListLayout::") + layout + ">");
    w.graph.connect(v["in"], std::vector<Tensor>{in.slice(0, 2), in.slice(2, 3), in.slice(3, 6)});
    w.graph.connect(v["sum"], out[i++]);
  }
  w.program.add(Execute(set));
  w.readable("out", out);
  w.engine();
  w.run();
  w.expect(w.read<float>("out", 2), {41, 41}, "1 * (0 + 1) + 2 * 2 + 3 * (3 + 4 + 5)");
}

void layouts(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor in = w.counting({13}, "in"), out = w.variable(poplar::FLOAT, {3}, "out");
  const Tensor ok = w.variable(poplar::BOOL, {}, "ok");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "Layouts");
  w.graph.connect(v["one"], in.slice(0, 3));
  w.graph.connect(v["compact"], in.slice(3, 6));
  w.graph.connect(v["short_span"], in.slice(6, 11));
  w.graph.connect(v["scaled"], in.slice(5, 8));
  w.graph.connect(v["out"], out);
  w.graph.setInitialValue(v["n"], 3);
  w.program.add(Execute(set, ok));
  w.readable("out", out);
  w.readable("ok", ok);
  w.engine();
  w.run();
  w.expect(w.read<float>("out", 3), {535, 646, 757}, "layouts");
  w.expect(w.read<char>("ok", 1), {1}, "alignments");
  w.expect(w.graph.getMaxFieldDim("Layouts", "short_span", 0) == 2047, "a SHORT_SPAN has eleven bits for its size");
}

template <class T>
void typed(World& w, const poplar::Type& type, const char* name) {
  const std::vector<T> values = {T(1), T(0), T(1)};
  const Tensor in = w.variable(type, {3}, values, std::string("in.") + name);
  const Tensor out = w.variable(type, {3}, std::string("out.") + name);
  const poplar::ComputeSet set = w.graph.addComputeSet(name);
  const VertexRef v = w.vertex(set, std::string("Typed<") + name + ">");
  w.graph.connect(v["x"], in);
  w.graph.connect(v["y"], out);
  w.graph.setInitialValue(v["offset"], T(1));
  w.program.add(Execute(set));
  w.readable(name, out);
}

template <class T>
void check_typed(World& w, const char* name) {
  w.expect(w.read<T>(name, 3), {static_cast<T>(T(1) + T(1)), T(1), static_cast<T>(T(1) + T(1))}, name);
}

void types(World& w) {
  w.add_codelets("fields.cpp");
  typed<float>(w, poplar::FLOAT, "float");
  typed<int>(w, poplar::INT, "int");
  typed<unsigned>(w, poplar::UNSIGNED_INT, "unsigned int");
  typed<short>(w, poplar::SHORT, "short");
  typed<unsigned short>(w, poplar::UNSIGNED_SHORT, "unsigned short");
  typed<char>(w, poplar::CHAR, "char");
  typed<signed char>(w, poplar::SIGNED_CHAR, "signed char");
  typed<unsigned char>(w, poplar::UNSIGNED_CHAR, "unsigned char");
  typed<long long>(w, poplar::LONGLONG, "long long");
  typed<unsigned long long>(w, poplar::UNSIGNED_LONGLONG, "unsigned long long");
  w.engine();
  w.run();
  check_typed<float>(w, "float");
  check_typed<int>(w, "int");
  check_typed<unsigned>(w, "unsigned int");
  check_typed<short>(w, "short");
  check_typed<unsigned short>(w, "unsigned short");
  check_typed<char>(w, "char");
  check_typed<signed char>(w, "signed char");
  check_typed<unsigned char>(w, "unsigned char");
  check_typed<long long>(w, "long long");
  check_typed<unsigned long long>(w, "unsigned long long");
}

void half_rounds_after_each_operation(World& w) {
  w.add_codelets("fields.cpp");
  const std::vector<float> values = {1.0f, 2048.0f, 0.1f, -65504.0f};
  const Tensor in = w.variable(poplar::HALF, {4}, values, "in"), out = w.variable(poplar::HALF, {4}, "out");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "Typed<half>");
  w.graph.connect(v["x"], in);
  w.graph.connect(v["y"], out);
  w.graph.setInitialValue(v["offset"], 1.0f);
  w.program.add(Execute(set));
  w.readable("out", out);
  w.engine();
  w.run();
  // 2, 2048 (2049 ties to even), 1.1 rounded twice, -65503 rounds to -65504.
  w.expect(w.read<std::uint16_t>("out", 4), {0x4000, 0x6800, 0x3c66, 0xfbff}, "bits of half");
}

void kinds_of_vertices(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor x = w.counting({8}, "x"), y = w.variable(poplar::FLOAT, {8}, "y");
  const Tensor squares = w.variable(poplar::INT, {3}, std::vector<int>{2, -3, 4}, "squares");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  VertexRef v = w.vertex(set, "Workers");
  w.graph.connect(v["x"], x);
  w.graph.connect(v["y"], y);
  v = w.vertex(set, "Supervised");
  w.graph.connect(v["v"], squares);
  w.program.add(Execute(set));
  w.readable("y", y);
  w.readable("squares", squares);
  w.engine();
  w.run();
  w.expect(w.read<float>("y", 8), {0, 11, 22, 33, 44, 55, 60, 71}, "six workers");
  w.expect(w.read<int>("squares", 3), {4, 9, 16}, "a supervisor vertex");
}

void results_of_a_compute_set(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor x = w.counting({6}, "x"), ok = w.variable(poplar::BOOL, {2}, "ok");
  for (unsigned i = 0; i < 2; ++i) {
    const poplar::ComputeSet set = w.graph.addComputeSet("cs");
    for (unsigned part = 0; part < 3; ++part) {
      const VertexRef v = w.vertex(set, "IsBelow");
      w.graph.connect(v["x"], x.slice(2 * part, 2 * part + 2));
      w.graph.setInitialValue(v["limit"], i == 0 ? 5.0f : 6.0f);
    }
    w.program.add(Execute(set, ok[i]));
  }
  w.readable("ok", ok);
  w.engine();
  w.run();
  w.expect(w.read<char>("ok", 2), {0, 1}, "5 is not below 5; all are below 6");
}

void globals_are_per_tile(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor calls = w.variable(poplar::UNSIGNED_INT, {3}, "calls");
  const unsigned tiles = w.graph.getTarget().getNumTiles();
  for (unsigned i = 0; i < 3; ++i) {
    const poplar::ComputeSet set = w.graph.addComputeSet("cs");
    const VertexRef v = w.graph.addVertex(set, "CountCalls");
    w.graph.setTileMapping(v, i == 2 ? tiles - 1 : 0);
    w.graph.connect(v["calls"], calls[i]);
    w.program.add(Execute(set));
  }
  w.readable("calls", calls);
  w.engine();
  w.run();
  const unsigned last = tiles == 1 ? 113 : 109;
  w.expect(w.read<unsigned>("calls", 3), {109, 111, last}, "the third call is on another tile");
  w.run();
  w.expect(w.read<unsigned>("calls", 3), tiles == 1 ? std::vector<unsigned>{115, 117, 119} : std::vector<unsigned>{113, 115, 111},
           "globals live from one run to the next");
}

void in_place(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({6}, "v");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef vertex = w.vertex(set, "PlusOne");
  w.graph.connect(vertex["x"], v);
  w.graph.connect(vertex["y"], v);
  w.program.add(poplar::program::Repeat(3, Execute(set)));
  w.readable("v", v);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 6), {3, 4, 5, 6, 7, 8}, "one tensor as input and output");
}

void pairs(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor in = w.counting({4, 4}, "in"), out = w.variable(poplar::FLOAT, {4}, "out");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const VertexRef v = w.vertex(set, "Pairs");
  w.graph.connect(v["pointer"], in[0]);
  w.graph.connect(v["span"], in[1]);
  w.graph.connect(v["rows"], in.slice(2, 4));
  w.graph.connect(v["sums"], out.slice(0, 2));
  w.graph.connect(v["first"], out[2]);
  w.graph.connect(v["last"], out[3]);
  w.graph.setInitialValue(v["pairs"], 2u);
  w.program.add(Execute(set));
  w.readable("out", out);
  w.engine();
  w.run();
  w.expect(w.read<float>("out", 4), {38, 54, 38, 38}, "even and odd elements, each written through its edge");
}

}  // namespace

std::vector<Case> field_cases() {
  return {{"scalar_fields", scalars},
          {"state_fields", state},
          {"rows", rows},
          {"vector_of_scalar_edges", scalar_vector},
          {"vector_lists", vector_lists},
          {"layouts", layouts},
          {"element_types", types},
          {"half", half_rounds_after_each_operation},
          {"kinds_of_vertices", kinds_of_vertices},
          {"results_of_a_compute_set", results_of_a_compute_set},
          {"globals_are_per_tile", globals_are_per_tile},
          {"in_place", in_place},
          {"pairs_and_edges_without_star", pairs}};
}

}  // namespace conformance
