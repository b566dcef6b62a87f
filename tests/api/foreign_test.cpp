// Things of another graph: every entry point rejects them, with one exception class.
#include <gtest/gtest.h>
#include <pando/host.hpp>
#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/MetadataCreation.hpp>
#include <poplar/RandomSeed.hpp>
#include <poplar/exceptions.hpp>

#include <functional>
#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

struct Row {
  const char* name;
  std::function<void()> use;
};

void expect_rejected(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    try {
      row.use();
      ADD_FAILURE() << row.name << ": nothing was thrown";
    } catch (const graph_connection_error& e) {
      EXPECT_NE(std::string(e.what()).find("another graph [foreign]"), std::string::npos) << row.name << ": " << e.what();
    } catch (const std::exception& e) { ADD_FAILURE() << row.name << ": " << typeid(e).name() << ": " << e.what(); }
  }
}

// `other` has more of everything than `own`, and what is `other`'s is in range in `own` where a number could be.
struct Foreign : testing::Test {
  Setting own, other;
  Tensor x = own.variable(FLOAT, {4}, "x"), y = own.variable(FLOAT, {4}, "y"), flag = own.variable(UNSIGNED_INT, {}, "flag");
  Tensor far = other.variable(FLOAT, {4}, "far"), far_flag = other.variable(UNSIGNED_INT, {}, "far_flag"), bits;
  ComputeSet far_set = other.set;
  VertexRef mine, far_vertex;
  DataStream in, far_in, far_out;
  RemoteBuffer buffer, far_buffer;
  Function function, far_function;
  FunctionBuffer far_code;
  HostFunction call, far_call;
  Program far_program;

  Foreign() {
    own.add_codelets();
    other.add_codelets();
    for (int i = 0; i < 40; ++i) other.variable(FLOAT, {4}, "more");
    bits = other.variable(FLOAT, {4}, "beyond");
    mine = own.scale(x, y);
    far_vertex = other.scale(far, bits);
    in = own.graph.addHostToDeviceFIFO("in", FLOAT, 4);
    far_in = other.graph.addHostToDeviceFIFO("in", FLOAT, 4);
    far_out = other.graph.addDeviceToHostFIFO("out", FLOAT, 4);
    buffer = own.graph.addRemoteBuffer("buffer", FLOAT, 4, 3);
    far_buffer = other.graph.addRemoteBuffer("buffer", FLOAT, 4, 3);
    function = own.graph.addFunction(Copy(x, y));
    far_function = other.graph.addFunction(Copy(far, bits));
    far_code = other.graph.addFunctionBuffer(far_function, FunctionBufferMappingType::REMOTE);
    call = own.graph.addHostFunction("call", {Graph::HostFunctionArgument{FLOAT, 4}}, {});
    far_call = other.graph.addHostFunction("call", {Graph::HostFunctionArgument{FLOAT, 4}}, {});
    far_program = Copy(far, bits);
  }
};

TEST_F(Foreign, TensorsOfAGraph) {
  Graph& g = own.graph;
  bool complete = false;
  const Graph::TileToTensorMapping mapping = {{{0, 4}}};
  for (const Tensor& t : {far, bits, bits.reverse(0), bits.slice(0, 0)}) {
    Tensor changed = t, mine_too = x;
    Tensor* const others[] = {&changed};
    expect_rejected({
        {"connect", [&] { g.connect(mine["x"], t); }},
        {"connect a list", [&] { g.connect(mine["x"], {x, t}); }},
        {"addVertex", [&] { g.addVertex(own.set, "Scale", {{"x", t}, {"y", y}}); }},
        {"setTileMapping", [&] { g.setTileMapping(t, 0); }},
        {"setTileMapping of parts", [&] { g.setTileMapping(t, mapping); }},
        {"getTileMapping", [&] { g.getTileMapping(t); }},
        {"getTileMapping, complete", [&] { g.getTileMapping(t, &complete); }},
        {"setInitialValue", [&] { g.setInitialValue(t, std::vector<float>(t.numElements())); }},
        {"clone", [&] { g.clone(t); }},
        {"clone as", [&] { g.clone(INT, t); }},
        {"cloneN", [&] { g.cloneN(t, 2); }},
        {"createHostWrite", [&] { g.createHostWrite("w", t); }},
        {"createHostRead", [&] { g.createHostRead("r", t); }},
        {"reorderToSimplify", [&] { g.reorderToSimplify(&changed, {}); }},
        {"reorderToSimplify with", [&] { g.reorderToSimplify(&mine_too, others); }},
        {"getSortedContiguousRegions", [&] { g.getSortedContiguousRegions(t, {}); }},
        {"findUnbroadcastTensor", [&] { g.findUnbroadcastTensor(t); }},
        {"serializeTensors",
         [&] {
           std::ostringstream out;
           g.serializeTensors(out, {t});
         }},
        {"concat", [&] { concat(x, t); }},
        {"append",
         [&] {
           append(x.expand({0}), t.slice(0, 0));
           append(x.expand({0}), t);
         }},
        {"setHwSeeds",
         [&] {
           Sequence s;
           setHwSeeds(g, t, s);
         }},
        {"setFloatingPointBehaviour",
         [&] {
           Sequence s;
           setFloatingPointBehaviour(g, s, t);
         }},
    });
  }
  EXPECT_FALSE(x.intersectsWith(far));  // variable 0 of either graph
  EXPECT_FALSE(x == far);
}

TEST_F(Foreign, MetadataAndVariables) {
  Graph& g = own.graph;
  const Tensor metadata = createConstantMetadataTensor(other.graph, QuarterMetadata::Format::F143, 0);
  const VariableRef variable = far.getVarRegions()[0].var;
  expect_rejected({
      {"addVariable", [&] { g.addVariable(QUARTER, metadata, {4}); }},
      {"addConstant", [&] { g.addConstant(QUARTER, metadata, {4}, 1.0f); }},
      {"clone", [&] { g.clone(QUARTER, metadata, g.addVariable(QUARTER, {4})); }},
      {"clone", [&] { g.clone(metadata, g.addVariable(QUARTER, {4})); }},
      {"getVariable", [&] { g.getVariable(variable); }},
      {"isConstant", [&] { g.isConstant(variable); }},
  });
  EXPECT_EQ(g.getVariable(x.getVarRegions()[0].var), x);
}

TEST_F(Foreign, HandlesOfAGraph) {
  Graph& g = own.graph;
  expect_rejected({
      {"addVertex", [&] { g.addVertex(far_set, "Scale"); }},
      {"connect", [&] { g.connect(far_vertex["x"], x); }},
      {"connect a row", [&] { g.connect(far_vertex["x"][0], x[0]); }},
      {"connect a constant", [&] { g.connect(far_vertex["x"], 1.0f); }},
      {"setInitialValue", [&] { g.setInitialValue(far_vertex["factor"], 1.0f); }},
      {"setInitialValueHalf", [&] { g.setInitialValueHalf(far_vertex["factor"], 1); }},
      {"setFieldSize", [&] { g.setFieldSize(far_vertex["x"], 2); }},
      {"getFieldSize", [&] { g.getFieldSize(far_vertex["x"]); }},
      {"setPerfEstimate", [&] { g.setPerfEstimate(far_vertex, 1); }},
      {"setTileMapping", [&] { g.setTileMapping(far_vertex, 0); }},
      {"addFunction", [&] { g.addFunction(far_program); }},
      {"addFunctionBuffer", [&] { g.addFunctionBuffer(far_function, FunctionBufferMappingType::REMOTE); }},
  });
}

TEST_F(Foreign, PartsOfPrograms) {
  Sequence sequence(Copy(x, y));
  Switch choice(flag.reinterpret(INT));
  choice.add(0, sequence);
  expect_rejected({
      {"Copy from", [&] { Copy(far, y); }},
      {"Copy to", [&] { Copy(x, far); }},
      {"Copy a stream to", [&] { Copy(far_in, x); }},
      {"Copy to a stream", [&] { Copy(x, far_out); }},
      {"Copy from a remote buffer", [&] { Copy(far_buffer, x); }},
      {"Copy to a remote buffer", [&] { Copy(x, far_buffer); }},
      {"Copy from rows", [&] { Copy(buffer, x, far_flag.reshape({1})); }},
      {"Copy to rows", [&] { Copy(x, buffer, far_flag.reshape({1})); }},
      {"Copy code", [&] { Copy(far_code, function); }},
      {"Execute", [&] { Execute(far_set, own.variable(BOOL, {}, "all")); }},
      {"Sequence", [&] { Sequence({sequence, far_program}); }},
      {"add", [&] { sequence.add(far_program); }},
      {"add Execute", [&] { sequence.add(Execute(far_set)); }},
      {"add Call", [&] { sequence.add(Call(far_function)); }},
      {"add deep", [&] { sequence.add(Repeat(2, Sequence({Sequence(), Sequence(far_program)}))); }},
      {"If", [&] { If(far_flag, sequence, sequence); }},
      {"else", [&] { If(flag, sequence, far_program); }},
      {"RepeatWhileTrue", [&] { RepeatWhileTrue(sequence, far_flag, sequence); }},
      {"RepeatWhileFalse", [&] { RepeatWhileFalse(far_program, flag, sequence); }},
      {"Switch", [&] { choice.add(1, far_program); }},
      {"default of Switch", [&] { Switch(flag.reinterpret(INT), far_program); }},
      {"Call a host function", [&] { Call(far_call, {x}, {}); }},
      {"Call with", [&] { Call(call, {far}, {}); }},
      {"Call to", [&] { Call(call, {}, {far}); }},
      {"CrossReplicaCopy", [&] { CrossReplicaCopy(x, far, {}); }},
  });
  Engine(own.graph, sequence);  // what was rejected is not in it
}

TEST_F(Foreign, WholePrograms) {
  std::ostringstream out;
  const Graph& g = own.graph;
  for (const Program& p :
       {far_program, Program(Execute(far_set)), Program(Call(far_function)), Program(PrintTensor(far)), Program(WriteUndef(bits)),
        Program(Call(far_call, {far}, {})), Program(Sequence(Sequence(Sequence(far_program)))), Program(AbortOnCondition(far_flag)),
        Program(AssumeEqualAcrossReplicas(far))})
    expect_rejected({
        {"Engine", [&] { Engine(g, {Sequence(), p}); }},
        {"compileGraph", [&] { compileGraph(g, {p}); }},
        {"dumpProgram", [&] { dumpProgram(g, p, out); }},
        {"outputComputeGraph", [&] { g.outputComputeGraph(out, {p}); }},
    });
}

TEST_F(Foreign, VirtualGraphsAreTheSameGraph) {
  Graph part = own.graph.createVirtualGraph(1, 3);
  part.setTileMapping(x, 0);
  own.graph.connect(part.addVertex(own.set, "Scale")["x"], x);
  EXPECT_EQ(part.getTileMapping(x)[0].size(), 1u);
  Graph moved = std::move(own.graph);
  moved.setTileMapping(x, 0);
  EXPECT_THROW(own.graph.setTileMapping(x, 0), poplar_error);
  EXPECT_THROW(own.graph.addVariable(FLOAT, {1}), poplar_error);
  EXPECT_THROW(own.graph.getTarget(), poplar_error);
}

}  // namespace
}  // namespace api
