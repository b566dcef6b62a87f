#include "misuse/world.h"

#include <popops/codelets.hpp>

namespace misuse {

using namespace poplar;

namespace {

Device tiny_machine() {
  IPUModel model("ipu2");
  model.tilesPerIPU = 4;
  return model.createDevice();
}

Tensor variable(Graph& graph, const Type& type, std::vector<std::size_t> shape, unsigned tile) {
  Tensor t = graph.addVariable(type, shape, "t");
  graph.setTileMapping(t, tile);
  return t;
}

void fill(World& w, Graph& graph, std::vector<Tensor>& out) {
  for (const Type& type : {FLOAT, HALF, UNSIGNED_INT, INT, BOOL}) {
    out.push_back(variable(graph, type, {4, 4}, 0));
    out.push_back(variable(graph, type, {4}, 1));
    out.push_back(variable(graph, type, {}, 2));
    out.push_back(variable(graph, type, {2}, 3));
  }
  out.push_back(variable(graph, FLOAT, {1, 4, 4, 4}, 1));
  out.push_back(variable(graph, FLOAT, {1, 4, 4, 3, 3}, 2));
  out.push_back(variable(graph, FLOAT, {2, 4, 4}, 3));
  static_cast<void>(w);
}

}  // namespace

World::World(unsigned seed) : dice(seed * 2654435761u + 1), device(tiny_machine()), own(device), other(device) {
  popops::addCodelets(own);
  fill(*this, own, good);
  fill(*this, other, foreign);
  for (int i = 0; i < 30; ++i) foreign.push_back(variable(other, FLOAT, {4, 4}, 0));  // whose numbers are no variables of `own`
  set = own.addComputeSet("set");
  other_set = other.addComputeSet("set");
  const Tensor constant = own.addConstant(FLOAT, {4, 4}, 1.5f, "constant");
  own.setTileMapping(constant, 0);
  bad = {Tensor(),
         good[0].slice(0, 0),
         constant,
         own.addVariable(FLOAT, {4, 4}, "unmapped"),
         good[0].broadcast(3, 0),
         good[2].reshape({}).expand({0}).broadcast(1u << 30, 0),
         own.addVariable(FLOAT, {std::size_t{1} << 40}, "huge"),
         good[0].reverse(1).transpose(),
         concat(good[0], good[0], 0)};
  own.createHostWrite("x", good[0]);
  own.createHostRead("x", good[0]);
}

std::string text(World& w) {
  static const std::string texts[] = {"x",
                                      "",
                                      "in",
                                      "SAME",
                                      "{}",
                                      "{\"a\": 1}",
                                      "partialsType",
                                      "float",
                                      "[[[",
                                      "\xff\xfe",
                                      std::string(5000, 'a'),
                                      std::string("a\0b", 3)};
  return texts[w.roll(3) ? w.roll(6) : w.roll(12)];
}

char* buffer() {
  static std::vector<char> bytes(1 << 20);
  return bytes.data();
}

Tensor Maker<Tensor>::make(World& w) {
  const unsigned kind = w.roll(16);
  if (kind == 0) {
    w.gave_foreign = true;
    return w.foreign[w.roll(static_cast<unsigned>(w.foreign.size()))];
  }
  if (kind < 3) return w.bad[w.roll(static_cast<unsigned>(w.bad.size()))];
  if (kind < 10) return w.good[w.roll(4)];  // often alike
  return w.good[w.roll(static_cast<unsigned>(w.good.size()))];
}

program::Program Maker<program::Program>::make(World& w) {
  switch (w.roll(8)) {
    case 0:
      w.gave_foreign = true;
      return program::Copy(w.foreign[0],
                           w.foreign[1].broadcast(1, 0).flatten().slice(0, 4).expand({0}).broadcast(1, 0).flatten().numElements()
                               ? w.foreign[0].reverse(0)
                               : w.foreign[0]);
    case 1: return program::Program();
    case 2: return program::Execute(w.set);
    default: return program::Sequence(program::Copy(w.good[0], w.good[0].transpose().reverse(0)));
  }
}

ComputeSet Maker<ComputeSet>::make(World& w) {
  switch (w.roll(8)) {
    case 0: w.gave_foreign = true; return w.other_set;
    case 1: return ComputeSet();
    case 2: return ComputeSet(w.roll(2000));
    default: return w.set;
  }
}

Interval Maker<Interval>::make(World& w) { return {Maker<std::size_t>::make(w), Maker<std::size_t>::make(w)}; }

DataStream Maker<DataStream>::make(World& w) {
  if (w.roll(6) == 0) return DataStream();
  const bool is_foreign = w.roll(6) == 0;
  w.gave_foreign = w.gave_foreign || is_foreign;
  Graph& graph = is_foreign ? w.other : w.own;
  const std::string handle = "s" + std::to_string(w.dice());
  return w.roll(2) ? graph.addHostToDeviceFIFO(handle, FLOAT, 16) : graph.addDeviceToHostFIFO(handle, FLOAT, 16);
}

RemoteBuffer Maker<RemoteBuffer>::make(World& w) {
  if (w.roll(6) == 0) return RemoteBuffer();
  const bool is_foreign = w.roll(6) == 0;
  w.gave_foreign = w.gave_foreign || is_foreign;
  return (is_foreign ? w.other : w.own).addRemoteBuffer("b" + std::to_string(w.dice()), FLOAT, 16, 3);
}

Executable Maker<Executable>::make(World& w) {
  if (w.roll(4) == 0) return Executable();
  return compileGraph(w.own, {program::Sequence(program::Copy(w.good[0], w.good[0].reverse(0)))});
}

Engine Maker<Engine>::make(World& w) {
  Engine engine(w.own, {program::Sequence(), program::Copy(w.good[0], w.good[0].reverse(0))});
  if (w.roll(4)) engine.load(w.device);
  return engine;
}

VertexRef Maker<VertexRef>::make(World& w) {
  const unsigned kind = w.roll(6);
  if (kind == 0) return VertexRef(w.roll(2000));
  if (kind == 1) return VertexRef();
  const bool is_foreign = kind == 2;
  w.gave_foreign = w.gave_foreign || is_foreign;
  Graph& graph = is_foreign ? w.other : w.own;
  std::stringstream source(
      "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex {\n public:\n  poplar::Input<poplar::Vector<float>> x;\n  "
      "poplar::Vector<int> in;\n"
      "  void compute() {}\n};\n");
  graph.addCodelets(source);
  return graph.addVertex(is_foreign ? w.other_set : w.set, "V");
}

namespace {

popops::expr::Any sum_of(unsigned depth) {
  using namespace popops::expr;
  Any sum = Any(_1);
  for (; depth > 0; --depth) sum = Any(Add(sum, _1));
  return sum;
}

}  // namespace

const popops::expr::Any& deep_sum() {
  static const popops::expr::Any sum = sum_of(3000);
  return sum;
}

popops::expr::Any Maker<popops::expr::Any>::make(World& w) {
  using namespace popops::expr;
  switch (w.roll(6)) {
    case 0: return Any(PlaceHolder(Maker<unsigned>::make(w)));
    case 1: return Any(Const(Maker<float>::make(w)));
    case 2: return Any(Cast(_1, Maker<Type>::make(w)));
    case 3: return w.roll(3) ? sum_of(3) : deep_sum();
    default: return Any(Add(_1, Mul(_2, _1)));
  }
}

poplin::ConvParams Maker<poplin::ConvParams>::make(World& w) {
  const auto size = [&] { return w.roll(6) ? std::size_t{1} + w.roll(4) : Maker<std::size_t>::make(w); };
  return poplin::ConvParams(w.roll(4) ? FLOAT : Maker<Type>::make(w), size(), {size(), size()}, {size(), size()}, size(), size(), size());
}

poplin::Epilogue Maker<poplin::Epilogue>::make(World& w) {
  return {Maker<std::vector<popops::expr::Any>>::make(w), Maker<std::vector<poplar::Tensor>>::make(w),
          w.roll(3) ? 0 : Maker<std::size_t>::make(w)};
}

// Sizes that fit each other most of the time; where they do not, creating is what fails.
popsparse::dynamic::MatMulParams Maker<popsparse::dynamic::MatMulParams>::make(World& w) {
  const auto size = [&] { return w.roll(6) ? std::size_t{1} + w.roll(4) : Maker<std::size_t>::make(w); };
  return popsparse::dynamic::MatMulParams::createWithNzRatio({}, 0.25 * (1 + w.roll(4)), w.roll(6) ? 1 : size(), size(), size(), size());
}
popsparse::dynamic::FullyConnectedParams Maker<popsparse::dynamic::FullyConnectedParams>::make(World& w) {
  const auto size = [&] { return w.roll(6) ? std::size_t{1} + w.roll(4) : Maker<std::size_t>::make(w); };
  return popsparse::dynamic::FullyConnectedParams::createWithNzRatio({}, 0.25 * (1 + w.roll(4)), size(), 1, size(), size());
}
popsparse::static_::MatMulParams Maker<popsparse::static_::MatMulParams>::make(World& w) {
  const auto size = [&] { return w.roll(6) ? std::size_t{1} + w.roll(4) : Maker<std::size_t>::make(w); };
  return w.roll(2) ? popsparse::static_::MatMulParams::createForSparseDense(1, size(), size(), size())
                   : popsparse::static_::MatMulParams::createForDenseSparse(1, size(), size(), size());
}
popsparse::experimental::BSMatMulParams Maker<popsparse::experimental::BSMatMulParams>::make(World& w) {
  const std::vector<unsigned char> mask = {1, 0, static_cast<unsigned char>(w.roll(2)), 1};
  const Type type = w.roll(4) ? FLOAT : Maker<Type>::make(w);
  if (w.roll(2)) return {{2, 4, 4}, {2, 2, 2}, mask, w.roll(2) == 0, type, type, FLOAT};
  return {{4, 2, 4}, {2, 2, 2}, mask, type, type, FLOAT};
}

popnn::pooling::PoolParams Maker<popnn::pooling::PoolParams>::make(World& w) {
  const auto size = [&] { return w.roll(6) ? std::size_t{1} + w.roll(3) : Maker<std::size_t>::make(w); };
  const auto step = [&] { return w.roll(6) ? 1 + w.roll(2) : Maker<unsigned>::make(w); };
  return {popnn::PoolingType::MAX, {size(), size()}, {size(), size()}, {step(), step()}, {0, 0}, {0, 0}, size(), size(), FLOAT};
}

}  // namespace misuse
