// Bad input: every documented exception by its class, and a message that names the thing.
#include <gtest/gtest.h>
#include <poplar/DeviceManager.hpp>
#include <poplar/exceptions.hpp>
#include <pva/pva.hpp>

#include <filesystem>
#include <functional>
#include <typeinfo>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

struct BadInput {
  const char* name;
  const std::type_info& type;
  std::vector<std::string> parts;  // of the message
  std::function<void()> action;
};

void expect(const BadInput& bad) {
  try {
    bad.action();
    ADD_FAILURE() << bad.name << ": nothing was thrown";
  } catch (const std::exception& e) {
    EXPECT_EQ(typeid(e), bad.type) << bad.name << ": " << typeid(e).name() << ": " << e.what();
    for (const std::string& part : bad.parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << bad.name << ": the message lacks '" << part << "': " << e.what();
  }
}

void expect_all(const std::vector<BadInput>& table) {
  for (const BadInput& bad : table) expect(bad);
}

std::string line(unsigned n) { return "errors_test.cpp:" + std::to_string(n); }

TEST(BadInput, VerticesAndFields) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {4}, "x"), n = s.variable(INT, {4}, "n");
  const VertexRef v = s.graph.addVertex(s.set, "Scale"), rows = s.graph.addVertex(s.set, "Rows"), i = s.graph.addVertex(s.set, "ScaleInt");
  const Tensor c = s.graph.addConstant<float>(FLOAT, {4}, {1, 2, 3, 4}, "fixed");
  expect_all({
      {"unknown codelet", typeid(unknown_vertex_type), {"'Scael'", "'Scale'"}, [&] { s.graph.addVertex(s.set, "Scael"); }},
      {"unknown field", typeid(unknown_field), {"'Scale'", "'z'", "'x'", "'y'", "'factor'"}, [&] { s.graph.connect(v["z"], x); }},
      {"unknown state field", typeid(unknown_field), {"'Scale'", "'fctor'"}, [&] { s.graph.setInitialValue(v["fctor"], 1.0f); }},
      {"unknown field by name", typeid(unknown_field), {"'Scale'", "'z'"}, [&] { s.graph.getMaxFieldDim("Scale", "z", 0); }},
      {"element type", typeid(type_error), {"Scale.x", "float", "int"}, [&] { s.graph.connect(v["x"], n); }},
      {"rank", typeid(graph_connection_error), {"Scale.x", "{2,2}"}, [&] { s.graph.connect(v["x"], x.reshape({2, 2})); }},
      {"scalar field", typeid(graph_connection_error), {"ScaleInt.one", "one element", "{4}"}, [&] { s.graph.connect(i["one"], n); }},
      {"two-dimensional field", typeid(graph_connection_error), {"Rows.rows", "{4}"}, [&] { s.graph.connect(rows["rows"], x); }},
      {"a state field connected",
       typeid(graph_connection_error),
       {"Scale.factor", "setInitialValue"},
       [&] { s.graph.connect(v["factor"], x); }},
      {"a constant written", typeid(graph_connection_error), {"Scale.y", "'fixed'"}, [&] { s.graph.connect(v["y"], c); }},
      {"a constant number written", typeid(graph_connection_error), {"ScaleInt.y"}, [&] { s.graph.connect(i["y"], 3); }},
      {"an invalid tensor", typeid(poplar_error), {"tensor"}, [&] { s.graph.connect(v["x"], Tensor()); }},
      {"an element without a size", typeid(no_size_specified), {"Scale.x", "setFieldSize"}, [&] { s.graph.connect(v["x"][0], x[0]); }},
      {"a row out of range",
       typeid(index_error),
       {"Rows.rows", "row 2", "2 rows"},
       [&] { s.graph.setFieldSize(rows["rows"], 2), s.graph.connect(rows["rows"][2], x); }},
      {"a value too great", typeid(overflow_error), {"Rows.weight", "70000"}, [&] { s.graph.setInitialValue(rows["weight"], 70000); }},
      {"a vertex of no graph", typeid(undefined_vertex_error), {"'x'", "3 vertices"}, [&] { s.graph.connect(VertexRef(17)["x"], x); }},
      {"a compute set of no graph",
       typeid(graph_object_creation_error),
       {"'Scale'", "compute set 9"},
       [&] { s.graph.addVertex(ComputeSet(9), "Scale"); }},
  });
}

TEST(BadInput, UnconnectedFieldsAndMappings) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {4}, "x"), y = s.variable(FLOAT, {4}, "y");
  const VertexRef v = s.graph.addVertex(s.set, "Scale");
  s.graph.setInitialValue(v["factor"], 1.0f);
  s.graph.connect(v["y"], y);
  s.program.add(Execute(s.set));
  const auto compile = [&] { compileGraph(s.graph, {s.program}); };
  expect({"unmapped vertex", typeid(invalid_tile_mapping), {"Scale", "'work'"}, compile});
  s.graph.setTileMapping(v, 1);
  expect({"unconnected field", typeid(graph_connection_error), {"'x'", "Scale", "'work'"}, compile});
  const Tensor lost = s.graph.addVariable(FLOAT, {4}, "lost");
  s.graph.setTileMapping(lost.slice(0, 3), 2);
  s.graph.connect(v["x"], lost);
  expect({"unmapped element", typeid(invalid_tile_mapping), {"'lost'", "element 3"}, compile});
  expect({"mapping of an unmapped tensor", typeid(invalid_tile_mapping), {"lost"}, [&] { s.graph.getTileMapping(lost); }});
  Graph part = s.graph.createVirtualGraph(1, 3);
  expect_all({
      {"tile out of range", typeid(invalid_tile_mapping), {"tile 4", "4 tiles"}, [&] { s.graph.setTileMapping(x, 4); }},
      {"vertex out of range", typeid(invalid_tile_mapping), {"Scale", "tile 9", "4 tiles"}, [&] { s.graph.setTileMapping(v, 9); }},
      {"list of tiles too long",
       typeid(invalid_tile_mapping),
       {"4"},
       [&] { s.graph.setTileMapping(x, std::vector<std::vector<Interval>>{{}, {}, {}, {}, {{0, 4}}}); }},
      {"interval out of range",
       typeid(invalid_tile_mapping),
       {"5"},
       [&] { s.graph.setTileMapping(x, std::vector<std::vector<Interval>>{{{0, 5}}}); }},
      {"tile of a virtual graph", typeid(invalid_tile_mapping), {"virtual graph", "2 tiles"}, [&] { part.setTileMapping(x, 2); }},
      {"virtual graph of other tiles",
       typeid(invalid_tile_mapping),
       {"tile 4", "4 tiles"},
       [&] { s.graph.createVirtualGraph(std::vector<unsigned>{0, 4}); }},
      {"replicas that do not fit",
       typeid(graph_replication_error),
       {"1 IPU", "2 replicas"},
       [&] { Graph(s.device, replication_factor(2)); }},
      {"unknown model", typeid(invalid_machine_model), {"ipu7", "ipu2"}, [] { IPUModel("ipu7").createDevice(); }},
      {"no IPUs",
       typeid(invalid_machine_model),
       {"numIPUs"},
       [] {
         IPUModel m("ipu2");
         m.numIPUs = 0;
         m.createDevice();
       }},
  });
}

TEST(BadInput, Races) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {4}, "source"), y = s.variable(FLOAT, {8}, "result", 1);
  const VertexRef a = s.graph.addVertex(s.set, "Scale"), b = s.graph.addVertex(s.set, "Scale");
  for (const VertexRef& v : {a, b}) {
    s.graph.setTileMapping(v, 1);
    s.graph.setInitialValue(v["factor"], 1.0f);
    s.graph.connect(v["x"], x);
  }
  s.graph.connect(a["y"], y.slice(0, 4));
  const unsigned first = __LINE__ - 1;
  s.graph.connect(b["y"], y.slice(3, 7));
  const unsigned second = __LINE__ - 1;
  const auto compile = [&] { compileGraph(s.graph, {Execute(s.set)}); };
  expect({"two writers", typeid(graph_cycle_error), {"Scale.y", "[3, 4)", "'result'", "'work'", line(first), line(second)}, compile});
  s.graph.connect(b["y"], y.slice(4, 8));
  s.graph.connect(a["x"], y.slice(5, 7));
  const unsigned reads = __LINE__ - 1;
  expect({"a reader and a writer", typeid(graph_cycle_error), {"Scale.x", "[5, 7)", "'result'", "read", "Scale.y", line(reads)}, compile});
  const unsigned at = __LINE__ + 1;
  const VertexRef c = s.graph.addVertex(s.set, "Scale", {{"x", x}, {"y", y.slice(0, 1)}, {"factor", 1.0f}});
  s.graph.setTileMapping(c, 0);
  s.graph.connect(a["x"], x);
  expect({"connected by addVertex", typeid(graph_cycle_error), {line(at)}, compile});
}

TEST(BadInput, Programs) {
  Setting s;
  const Tensor a = s.variable(FLOAT, {4}, "a"), b = s.variable(FLOAT, {6}, "b"), n = s.variable(INT, {4}, "n");
  const Tensor c = s.graph.addConstant<float>(FLOAT, {4}, {1, 2, 3, 4}, "fixed");
  s.graph.setTileMapping(c, 0);
  const DataStream in = s.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  const RemoteBuffer far = s.graph.addRemoteBuffer("far", FLOAT, 4, 3);
  const auto compile = [&](const std::function<Program()>& p) { return [&s, p] { compileGraph(s.graph, {p()}); }; };
  expect_all({
      {"sizes", typeid(control_program_error), {"{4} of {a}", "{6} of {b}"}, compile([&] { return Copy(a, b); })},
      {"types", typeid(type_error), {"float", "int"}, compile([&] { return Copy(a, n); })},
      {"a constant written", typeid(control_program_error), {"{fixed}"}, compile([&] { return Copy(a, c); })},
      {"an element written twice", typeid(control_program_error), {"{2,4}"}, compile([&] {
         return Copy(a, a.expand({0}).broadcast(2, 0));
       })},
      {"size of a stream", typeid(control_program_error), {"'in'", "{6}"}, compile([&] { return Copy(in, b); })},
      {"direction of a stream", typeid(control_program_error), {"'in'"}, compile([&] { return Copy(a, in); })},
      {"type of a stream", typeid(type_error), {"float", "int"}, compile([&] { return Copy(in, n); })},
      {"size of a remote buffer", typeid(control_program_error), {"'far'", "{6}"}, compile([&] { return Copy(far, b); })},
      {"a predicate of several elements", typeid(control_program_error), {"{4}"}, compile([&] { return If(n, Sequence(), Sequence()); })},
      {"a predicate of floats", typeid(type_error), {"float"}, compile([&] { return If(a[0], Sequence(), Sequence()); })},
      {"a compute set of no graph", typeid(control_program_error), {"99"}, compile([&] { return Execute(ComputeSet(99)); })},
      {"a function of no graph", typeid(control_program_error), {"7"}, compile([&] { return Call(Function(7)); })},
      {"a stream of a taken handle", typeid(graph_object_creation_error), {"'in'"}, [&] { s.graph.addHostToDeviceFIFO("in", FLOAT, 4); }},
      {"option of a stream", typeid(invalid_option), {"'depth'"}, [&] { s.graph.addDeviceToHostFIFO("o", FLOAT, 4, {{"depth", "2"}}); }},
      {"unknown option",
       typeid(invalid_option),
       {"Unrecognised option 'target.speed'"},
       [&] { Engine(s.graph, Sequence(), {{"target.speed", "9"}}); }},
      {"value of an option",
       typeid(invalid_option),
       {"debug.allowOutOfMemory", "maybe"},
       [&] { Engine(s.graph, Sequence(), {{"debug.allowOutOfMemory", "maybe"}}); }},
  });
  s.graph.addFunction(Call(Function(1)), "ping");
  s.graph.addFunction(Sequence({Copy(c, a), Call(Function(0))}), "pong");
  expect({"recursion", typeid(graph_recursion_error), {"'ping'", "'pong'"}, compile([&] { return Call(Function(0)); })});
}

TEST(BadInput, Codelets) {
  Directory d;
  Setting s;
  std::ostringstream output;
  const std::string broken = d.file(
      "broken.cpp",
      "#include <poplar/Vertex.hpp>\nclass A : public poplar::Vertex {\n public:\n  poplar::Input<flot> x;\n  void compute() {}\n};\n");
  const std::string nested = d.file(
      "nested.cpp",
      "#include <poplar/Vertex.hpp>\nstruct S { int a; };\nclass B : public poplar::Vertex {\n public:\n  S s;\n  void compute() {}\n};\n");
  const std::string registers = d.file("register.cpp",
                                       "#include <poplar/Vertex.hpp>\nclass D : public poplar::Vertex {\n public:\n  void compute() {\n"
                                       "    asm volatile(\"setzi $a0, 0\" ::: \"$mzero\");\n  }\n};\n");
  expect_all({
      {"compile error", typeid(graph_program_compilation_error), {"broken.cpp:4:", "error:", "flot"}, [&] { s.graph.addCodelets(broken); }},
      {"unsupported field type",
       typeid(graph_program_compilation_error),
       {"nested.cpp:5:", "Field 'B.s' has unsupported field type 'S'"},
       [&] { s.graph.addCodelets(nested); }},
      {"register of an IPU",
       typeid(graph_program_compilation_error),
       {"register.cpp:5:", "'$mzero'", "assembly of an IPU, which a host cannot run"},
       [&] { s.graph.addCodelets(registers); }},
      {"compile error of a text",
       typeid(graph_program_compilation_error),
       {":1:", "error:"},
       [&] {
         std::stringstream t("int f() { return }");
         s.graph.addCodelets(t);
       }},
      {"no such file", typeid(file_load_error), {"nowhere.cpp"}, [&] { s.graph.addCodelets(d / "nowhere.cpp"); }},
      {"no such object", typeid(file_load_error), {"nowhere.gp"}, [&] { s.graph.addCodelets(d / "nowhere.gp"); }},
      {"not an object", typeid(graph_object_load_error), {"text.gp"}, [&] { s.graph.addCodelets(d.file("text.gp", "no object at all")); }},
      {"assembly", typeid(graph_program_compilation_error), {"kernel.s"}, [&] { s.graph.addCodelets(d.file("kernel.s", "")); }},
      {"diagnostics go to the stream",
       typeid(graph_program_compilation_error),
       {},
       [&] { s.graph.addCodelets(broken, CodeletFileType::Auto, "", output); }},
  });
  EXPECT_NE(output.str().find("broken.cpp:4:"), std::string::npos) << output.str();
  s.graph.addCodelets(d.file(
      "open.cpp",
      "#include <poplar/Vertex.hpp>\nint defined_nowhere(int);\nclass C : public poplar::Vertex {\n public:\n  poplar::InOut<int> x;\n"
      "  void compute() { *x = defined_nowhere(*x); }\n};\n"));
  const Tensor x = s.variable(INT, {1}, "x");
  const VertexRef v = s.graph.addVertex(s.set, "C", {{"x", x}});
  s.graph.setTileMapping(v, 3);
  expect({"undefined symbol", typeid(link_error), {"undefined symbol", "defined_nowhere", "on tile 3"}, [&] {
            Engine(s.graph, Execute(s.set));
          }});
}

TEST(BadInput, OutOfMemory) {
  Directory d;
  Setting s;
  const Tensor huge = s.variable(FLOAT, {1 << 20}, "huge", 2), small = s.variable(FLOAT, {1 << 20}, "other", 2);
  s.program.add(Copy(huge, small, false, "grow"));
  s.graph.createHostWrite("w", huge);
  s.graph.createHostRead("r", small);
  try {
    Engine engine(s.graph, s.program, {{"autoReport.outputGraphProfile", "true"}, {"autoReport.directory", d / "report"}});
    FAIL() << "8 MiB fit a tile";
  } catch (const graph_memory_allocation_error& e) {
    const std::string text = e.what();
    for (const char* part : {"tile 2", "huge", "other", "grow"}) EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
    EXPECT_TRUE(std::filesystem::exists(e.profilePath)) << e.profilePath;
    EXPECT_FALSE(pva::openReport(e.profilePath).compilation().outOfMemory().empty());
  }
  // A model has the memory that a program needs.
  Engine allowed(s.graph, s.program, {{"debug.allowOutOfMemory", "true"}});
  allowed.load(s.device);
  std::vector<float> in(1 << 20), out(1 << 20);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  allowed.writeTensor("w", in.data(), in.data() + in.size());
  allowed.run();
  allowed.readTensor("r", out.data(), out.data() + out.size());
  EXPECT_EQ(in, out);
  // An IPU has not.
  const Environment one("PANDO_EMULATED_IPUS", "1");
  const Device ipu = DeviceManager().acquireAvailableDevice(1);
  Graph graph(ipu);
  const Tensor more = graph.addVariable(FLOAT, {1 << 20}, "huge");
  graph.setTileMapping(more, 2);
  graph.createHostWrite("w", more);
  Engine rejected(graph, WriteUndef(more), {{"debug.allowOutOfMemory", "true"}});
  expect({"loading it", typeid(poplar_error), {"memory", "IPUModel"}, [&] { rejected.load(ipu); }});
}

TEST(BadInput, Running) {
  Setting s;
  const Tensor a = s.variable(FLOAT, {4}, "a"), row = s.variable(UNSIGNED_INT, {1}, "row");
  s.graph.setInitialValue(row, ArrayRef<unsigned>{3u});
  s.graph.createHostWrite("w", a);
  s.graph.createHostRead("r", a);
  const RemoteBuffer far = s.graph.addRemoteBuffer("far", FLOAT, 4, 3);
  const DataStream in = s.graph.addHostToDeviceFIFO("images", FLOAT, 4);
  const HostFunction call = s.graph.addHostFunction("shuffle", {}, {Graph::HostFunctionArgument{FLOAT, 4}});
  const Function f = s.graph.addFunction(Copy(a, a.reverse(0)), "late");
  const FunctionBuffer buffer = s.graph.addFunctionBuffer(f, FunctionBufferMappingType::REMOTE);
  static_cast<void>(buffer);
  Engine engine(s.graph, {Copy(in, a), Copy(far, a, row), Call(f), Call(call, {}, {a}), ErrorProgram("too hot", a)});
  expect({"not loaded", typeid(poplar_error), {"load"}, [&] { engine.run(0); }});
  expect({"another device", typeid(poplar_error), {"target"}, [&] { engine.load(ipus(1, 8)); }});
  engine.load(s.device);
  float block[8] = {};
  expect_all({
      {"unconnected stream", typeid(stream_connection_error), {"'images'"}, [&] { engine.run(0); }},
      {"row of a remote buffer", typeid(application_runtime_error), {"'far'", "row 3", "3"}, [&] { engine.run(1); }},
      {"function not loaded", typeid(control_program_error), {"'late'"}, [&] { engine.run(2); }},
      {"unconnected host function", typeid(stream_connection_error), {"'shuffle'"}, [&] { engine.run(3); }},
      {"error program", typeid(application_runtime_error), {"too hot", "0.0000000"}, [&] { engine.run(4); }},
      {"program index", typeid(control_program_error), {"no program 5", "5"}, [&] { engine.run(5); }},
      {"unknown handle written", typeid(stream_connection_error), {"'x'", "r"}, [&] { engine.writeTensor("x", block); }},
      {"unknown handle read", typeid(stream_connection_error), {"'x'"}, [&] { engine.readTensor("x", block); }},
      {"read-only handle", typeid(stream_connection_error), {"'r'", "writing"}, [&] { engine.writeTensor("r", block); }},
      {"buffer too small", typeid(stream_connection_error), {"'r'", "16 bytes", "12"}, [&] { engine.readTensor("r", block, block + 3); }},
      {"unknown stream", typeid(stream_connection_error), {"'image'", "images"}, [&] { engine.connectStream("image", block); }},
      {"buffer of a stream",
       typeid(stream_connection_error),
       {"'images'", "16 bytes", "12 bytes"},
       [&] { engine.connectStream("images", block, block + 3); }},
      {"null buffer", typeid(stream_connection_error), {"'images'"}, [&] { engine.connectStream("images", nullptr); }},
      {"replica of a stream",
       typeid(graph_replication_error),
       {"'images'", "replica 1"},
       [&] { engine.connectStreamToCallback("images", 1, [](void*) {}); }},
      {"unknown remote buffer", typeid(stream_connection_error), {"'near'", "far"}, [&] { engine.copyToRemoteBuffer(block, "near", 0); }},
      {"row from the host", typeid(index_error), {"'far'", "row 3", "3"}, [&] { engine.copyFromRemoteBuffer("far", block, 3); }},
      {"size of a row",
       typeid(stream_connection_error),
       {"'far'", "16 bytes", "12"},
       [&] { engine.copyToRemoteBuffer(std::vector<float>(3), "far", 0); }},
      {"unknown host function",
       typeid(stream_connection_error),
       {"'sort'", "shuffle"},
       [&] {
         class F : public HostCallback {
           void operator()(ArrayRef<const void*>, ArrayRef<void*>) override {}
         };
         engine.connectHostFunction("sort", 0, std::unique_ptr<HostCallback>(new F));
       }},
      {"option of the summary",
       typeid(invalid_option),
       {"'showAll'"},
       [&] {
         std::ostringstream o;
         engine.printProfileSummary(o, {{"showAll", "true"}});
       }},
  });
}

TEST(BadInput, Executables) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {4}, "x"), y = s.variable(FLOAT, {4}, "y");
  s.scale(x, y);
  std::ostringstream out;
  compileGraph(s.graph, {Execute(s.set)}).serialize(out);
  const std::string bytes = out.str();
  const auto load = [](std::string text) {
    return [text = std::move(text)] {
      std::istringstream in(text);
      Executable::deserialize(in);
    };
  };
  std::vector<BadInput> table = {
      {"empty", typeid(graph_object_load_error), {"no executable"}, load("")},
      {"another kind of file",
       typeid(graph_object_load_error),
       {"no executable"},
       load("\x7f"
            "ELF" +
            bytes)},
      {"a default-constructed one",
       typeid(poplar_error),
       {"default-constructed"},
       [] {
         std::ostringstream o;
         Executable().serialize(o);
       }},
  };
  for (std::size_t at = 24; at < bytes.size(); at += bytes.size() / 23 + 1) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    table.push_back({"a bit flipped", typeid(graph_object_load_error), {"executable"}, load(broken)});
    table.push_back({"cut short", typeid(graph_object_load_error), {"executable"}, load(bytes.substr(0, at))});
  }
  std::string other = bytes;
  expect_all(table);
}

}  // namespace
}  // namespace api
