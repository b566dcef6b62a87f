// Every kind of control program.
#include "world.h"

#include <poplar/exceptions.hpp>

namespace conformance {
namespace {

using poplar::Tensor;
using namespace poplar::program;

// v += 1 as a program.
Program increment(World& w, const Tensor& v) {
  const poplar::ComputeSet set = w.graph.addComputeSet("increment");
  const poplar::VertexRef vertex = w.vertex(set, "PlusOne");
  w.graph.connect(vertex["x"], v.flatten());
  w.graph.connect(vertex["y"], v.flatten());
  return Execute(set);
}

void sequences_and_repeats(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({3}, "v");
  const Program step = increment(w, v);
  w.program.add(Sequence({step, Repeat(4, Sequence({step, Repeat(2, step)})), Repeat(0, step), Sequence()}));
  w.readable("v", v);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 3), {13, 14, 15}, "1 + 4 * 3 rounds");
}

void while_loops(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({1}, "v"), u = w.counting({1}, "u"), below = w.variable(poplar::BOOL, {2}, "below");
  const Tensor tests[2] = {v, u};
  const float limits[2] = {5, -1};
  for (unsigned i = 0; i < 2; ++i) {
    const poplar::ComputeSet set = w.graph.addComputeSet("test");
    const poplar::VertexRef t = w.vertex(set, "IsBelow");
    w.graph.connect(t["x"], tests[i]);
    w.graph.setInitialValue(t["limit"], limits[i]);
    const Program condition = Execute(set, below[i]), body = increment(w, tests[i]);
    if (i == 0) w.program.add(RepeatWhileTrue(condition, below[0], body));
    if (i == 1) w.program.add(RepeatWhileTrue(condition, below[1], body));
  }
  // Until `flag` is set, which the body does in its third round.
  const Tensor flags = w.variable(poplar::INT, {4}, std::vector<int>{0, 0, 0, 1}, "flags");
  const Tensor rounds = w.counting({1}, "rounds");
  w.program.add(RepeatWhileFalse(Sequence(), flags[0], Sequence({Copy(flags.slice(1, 4), flags.slice(0, 3)), increment(w, rounds)})));
  w.readable("v", v);
  w.readable("u", u);
  w.readable("rounds", rounds);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 1), {5}, "while below 5");
  w.expect(w.read<float>("u", 1), {0}, "no round");
  w.expect(w.read<float>("rounds", 1), {3}, "three rounds until the flag");
}

void branches(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({4}, "v"), p = w.variable(poplar::INT, {3}, std::vector<int>{1, 0, -7}, "p");
  const Tensor flag = w.variable(poplar::BOOL, {}, std::vector<char>{1}, "flag");
  const Program step = increment(w, v);
  w.program.add(If(p[0], step, Sequence()));
  w.program.add(If(p[1], step, Sequence({step, step})));
  w.program.add(If(flag, step, Sequence()));
  w.program.add(Switch(p[2], {{1, Sequence()}, {-7, Repeat(10, step)}}));
  w.program.add(Switch(p[1], {{1, step}}, Repeat(100, step)));
  Switch last(p[0], Repeat(1000, step));
  last.add(1, Repeat(10000, step)).add(2, step);
  w.program.add(last);
  w.program.add(Switch(p[1]).add(5, step));
  w.readable("v", v);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 4), {10114, 10115, 10116, 10117}, "1 + 2 + 1 + 10 + 100 + 10000");
}

void functions(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({4}, "v");
  const poplar::Function inner = w.graph.addFunction(increment(w, v));
  const poplar::Function outer = w.graph.addFunction(Sequence({Call(inner), Repeat(3, Call(inner))}));
  w.program.add(Call(outer));
  w.program.add(Call(inner));
  w.program.add(Repeat(2, Call(outer)));
  w.readable("v", v);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 4), {13, 14, 15, 16}, "calls in calls");
}

void function_buffers(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({4}, "v");
  const poplar::Function f = w.graph.addFunction(increment(w, v));
  const poplar::FunctionBuffer code = w.graph.addFunctionBuffer(f, poplar::FunctionBufferMappingType::REMOTE);
  w.program.add(Repeat(3, Sequence({Copy(code, f), Call(f)})));
  w.readable("v", v);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 4), {3, 4, 5, 6}, "code from Streaming Memory");
}

void several_programs_share_state(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({4}, "v"), saved = w.variable(poplar::FLOAT, {4}, "saved");
  w.readable("v", v);
  w.graph.createHostWrite("v.in", v);
  w.readable("saved", saved);
  const Program step = increment(w, v);
  poplar::Engine& engine = w.engine({step, Copy(v, saved), Copy(saved, v), Sequence({step, step})});
  for (unsigned p : {0, 1, 3, 3}) w.run(p);
  w.expect(w.read<float>("v", 4), {5, 6, 7, 8}, "v after five steps");
  w.expect(w.read<float>("saved", 4), {1, 2, 3, 4}, "saved after the first");
  w.run(2);
  w.run(0);
  w.expect(w.read<float>("v", 4), {2, 3, 4, 5}, "v from saved");
  const std::vector<float> values = {9, 9, 9, 9};
  engine.writeTensor("v.in", values.data(), values.data() + 4);
  w.run(0);
  w.expect(w.read<float>("v", 4), {10, 10, 10, 10}, "v from the host");
  w.expect_throws<poplar::control_program_error>([&] { engine.run(4); }, "4", "a wrong program index");
}

void prints(World& w) {
  const Tensor ints = w.variable(poplar::INT, {10}, std::vector<int>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, "v4-1");
  const Tensor floats = w.variable(poplar::FLOAT, {4}, std::vector<float>{7, 6, 4.5, 2.5}, "v2");
  const Tensor square = w.variable(poplar::FLOAT, {2, 2}, std::vector<float>{5, 4.5, 4, 3.5}, "v3");
  w.program.add(PrintTensor("v4-1", ints));
  w.program.add(PrintTensor("v2", floats));
  w.program.add(PrintTensor("v3", square));
  std::ostringstream out;
  w.engine().setPrintStream(out);
  w.run();
  w.keep(out.str().data(), out.str().size());
  w.expect(out.str() ==
               "v4-1: [10 11 12 13 14 15 16 17 18 19]\n"
               "v2: [7.0000000 6.0000000 4.5000000 2.5000000]\n"
               "v3: [\n [5.0000000 4.5000000]\n [4.0000000 3.5000000]\n]\n",
           "printed: " + out.str());
}

void error_programs(World& w) {
  const Tensor v = w.counting({2}, "v"), flags = w.variable(poplar::BOOL, {2}, std::vector<char>{0, 1}, "flags");
  poplar::Engine& engine =
      w.engine({ErrorProgram("the sum is wrong", v), AbortOnCondition(flags[0], "off"), AbortOnCondition(flags[1], "on"), Abort("always")});
  std::ostringstream out;
  engine.setPrintStream(out);
  w.expect_throws<poplar::application_runtime_error>([&] { engine.run(0); }, "the sum is wrong", "ErrorProgram");
  engine.run(1);
  w.expect_throws<poplar::application_runtime_error>([&] { engine.run(2); }, "on: 1 [error-program]", "AbortOnCondition");
  w.expect_throws<poplar::application_runtime_error>([&] { engine.run(3); }, "always [error-program]", "Abort");
}

void syncs_and_undefined_contents(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({4}, "v"), u = w.counting({4}, "u");
  w.program.add(Sync(poplar::SyncType::INTERNAL));
  w.program.add(increment(w, v));
  w.program.add(Sync(poplar::SyncType::GLOBAL));
  w.program.add(WriteUndef(u));
  w.program.add(Copy(v, u));
  w.program.add(Sync(poplar::SyncType::EXTERNAL));
  w.readable("u", u);
  w.engine();
  w.run();
  w.expect(w.read<float>("u", 4), {1, 2, 3, 4}, "u");
}

void cycle_counts(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({4}, "v");
  Sequence once({increment(w, v)}), often({Repeat(10, increment(w, v))});
  const Tensor a = poplar::cycleCount(w.graph, once, 0, poplar::SyncType::INTERNAL);
  const Tensor b = poplar::cycleCount(w.graph, often, 0, poplar::SyncType::INTERNAL);
  w.expect(a.numElements() == 2 && a.elementType() == poplar::UNSIGNED_INT, "a count is two words");
  w.program.add(once);
  w.program.add(often);
  w.readable("a", a);
  w.readable("b", b);
  w.engine();
  w.run();
  const std::vector<unsigned> one = w.read<unsigned>("a", 2), ten = w.read<unsigned>("b", 2);
  w.expect(one[1] == 0 && ten[1] == 0, "counts of short programs fit in the low word");
  w.expect(ten[0] >= one[0], "ten rounds cost no less than one");
}

void different_sizes(World& w) {
  const Tensor v = w.counting({2}, "v");
  w.expect_throws<poplar::poplar_error>(
      [&] {
        Copy copy(v, w.counting({3}, "three"));
        w.program.add(copy);
        w.engine();
      },
      "", "a copy of different sizes");
}

}  // namespace

std::vector<Case> program_cases() {
  return {{"sequences_and_repeats", sequences_and_repeats},
          {"while_loops", while_loops},
          {"branches", branches},
          {"functions", functions},
          {"function_buffers", function_buffers},
          {"several_programs_share_state", several_programs_share_state},
          {"prints", prints},
          {"error_programs", error_programs},
          {"syncs_and_undefined_contents", syncs_and_undefined_contents},
          {"cycle_counts", cycle_counts},
          {"copies_of_different_sizes_are_rejected", different_sizes}};
}

}  // namespace conformance
