// Parts of a program that are built once and called several times.
#include "oplib.h"

#include <poputil/GraphFunction.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using namespace poputil;
using program::Copy;
using program::Sequence;
using Args = std::vector<Tensor>;

// x with its elements reversed, into y: a function that needs no codelet.
void reversed(const Tensor& x, const Tensor& y, Sequence& prog) { prog.add(Copy(x.flatten().reverse(0), y.flatten())); }

std::vector<double> reversed(const Values& x) { return {x.values.rbegin(), x.values.rend()}; }

struct Functions : testing::TestWithParam<bool> {
  Operand x = operand("x", FLOAT, {4, 5}, uniform(-1, 1, 1));
  Operand y = operand("y", FLOAT, {4, 5}, uniform(-1, 1, 2), Mapping::scattered);
};

TEST_P(Functions, InputsGoInAndOutputsComeOut) {
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {x, y}, [&](Graph& g, Args& in, Sequence& prog) {
      int built = 0;
      graphfn::VoidFunction f(
          g, {graphfn::input(in[0], "from"), graphfn::output(in[0], "to")},
          [&](Args& args, Sequence& p) {
            ++built;
            reversed(args[0], args[1], p);
          },
          GetParam());
      Args first = {in[0], g.clone(in[0])}, second = {in[1], g.clone(in[1])};
      f(first, prog);
      graphfn::VoidFunction moved(std::move(f));
      moved(second, prog, "second");
      EXPECT_EQ(built, 1);
      return Args{first[1], second[1]};
    });
    expect_close(out[0], reversed(x));
    expect_close(out[1], reversed(y));
  }
}

TEST_P(Functions, ChangedArgumentsComeBack) {
  RunOptions in_place;
  in_place.in_place = true;
  for (const Machine machine : kMachines) {
    const auto out = run(
        machine, {x, y},
        [&](Graph& g, Args& in, Sequence& prog) {
          graphfn::VoidFunction f(
              g, {graphfn::inout(in[0])},
              [&](Args& args, Sequence& p, const DebugNameAndId& name) {
                const Tensor copy = g.clone(args[0], {name, "copy"});
                p.add(Copy(args[0], copy));
                reversed(copy, args[0], p);
              },
              GetParam());
          Args a = {in[0]}, b = {in[1]};
          f(a, prog);
          f(b, prog);
          return Args{};
        },
        in_place);
    expect_close(out[0], reversed(x));
    expect_close(out[1], reversed(y));
  }
}

TEST_P(Functions, EachCallReturnsATensorOfItsOwn) {
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {x, y}, [&](Graph& g, Args& in, Sequence& prog) {
      const auto build = [&](const Tensor& from, Sequence& p, const DebugContext& context) {
        const Tensor to = g.addVariable(FLOAT, {20}, context);
        mapTensorLinearly(g, to);
        reversed(from, to, p);
        return to;
      };
      graphfn::TensorFunction f(g, {graphfn::input(in[0])}, [&](Args& args, Sequence& p) { return build(args[0], p, "to"); }, GetParam());
      graphfn::TensorFunction named(
          g, {graphfn::input(in[0])}, [&](Args& args, Sequence& p, const DebugNameAndId& name) { return build(args[0], p, {name, "to"}); },
          GetParam());
      graphfn::ProgramFunction program(
          g, {graphfn::input(in[0]), graphfn::created()},
          [&](Args& args) {
            Sequence p;
            args[1] = build(args[0], p, "to");
            return p;
          },
          GetParam());
      graphfn::ProgramFunction named_program(
          g, {graphfn::input(in[0]), graphfn::created()},
          [&](Args& args, const DebugNameAndId& name) {
            Sequence p;
            args[1] = build(args[0], p, {name});
            return p;
          },
          GetParam());
      Args a = {in[0]}, b = {in[1]}, c = {in[0], Tensor()}, d = {in[1], Tensor()};
      const Tensor first = f(a, prog), second = f(b, prog, "second"), third = named(a, prog);
      EXPECT_EQ(a.size(), 1u);
      prog.add(program(c));
      prog.add(program(d, "call"));
      const Tensor of_x = c[1], of_y = d[1];
      prog.add(named_program(d));
      return Args{first, second, third, of_x, of_y, d[1]};
    });
    for (const std::size_t i : {0, 2, 3}) expect_close(out[i], reversed(x));
    for (const std::size_t i : {1, 4, 5}) expect_close(out[i], reversed(y));
  }
}

INSTANTIATE_TEST_SUITE_P(Inlined, Functions, testing::Bool());

TEST(FunctionErrors, ArgumentsMustFit) {
  Graph g(device_of(Machine::cpu).getTarget()), other_graph(device_of(Machine::cpu).getTarget());
  const Tensor x = g.addVariable(FLOAT, {4}), other = g.addVariable(FLOAT, {5}), integer = g.addVariable(INT, {4});
  const auto nothing = [](Args&, Sequence&) {};
  Sequence prog;
  graphfn::VoidFunction f(g, {graphfn::input(x)}, nothing);
  for (Args args : {Args{}, Args{other}, Args{integer}, Args{Tensor()}, Args{x, x}}) EXPECT_THROW(f(args, prog), poplibs_error);
  Args foreign = {other_graph.addVariable(FLOAT, {4})};
  EXPECT_THROW(f(foreign, prog), graph_connection_error);
  graphfn::TensorFunction with_result(g, {graphfn::input(x)}, [&](Args&, Sequence&) { return x; });
  Args wrong = {other};
  EXPECT_THROW(with_result(wrong, prog), poplibs_error);
  EXPECT_EQ(wrong.size(), 1u);
  EXPECT_THROW(graphfn::VoidFunction(g, {graphfn::created("result")}, nothing), poplibs_error);
  EXPECT_THROW(graphfn::VoidFunction(g, {graphfn::input(Tensor())}, nothing), poplibs_error);
  EXPECT_THROW(graphfn::VoidFunction(g, {graphfn::input(x)}, [](Args& args, Sequence&) { args.clear(); }), poplibs_error);
  for (const int kind : {-1, 4})
    EXPECT_THROW(graphfn::VoidFunction(g, {graphfn::ArgSig(static_cast<graphfn::ArgType>(kind), x, "kind")}, nothing), poplibs_error)
        << kind;
}

TEST(FunctionErrors, WhatTheFunctionLeavesMustFit) {
  Graph g(device_of(Machine::cpu).getTarget()), other_graph(device_of(Machine::cpu).getTarget());
  const Tensor x = g.addVariable(FLOAT, {4}), other = g.addVariable(FLOAT, {5}), foreign = other_graph.addVariable(FLOAT, {4});
  for (const bool inlined : {false, true}) {
    const auto setting = [&](const graphfn::ArgSig& parameter, const Tensor& t) {
      graphfn::VoidFunction(g, {parameter}, [&](Args& args, Sequence&) { args[0] = t; }, inlined);
    };
    EXPECT_THROW(setting(graphfn::input(x), other), poplibs_error);
    EXPECT_THROW(setting(graphfn::output(x), Tensor()), poplibs_error);
    EXPECT_THROW(setting(graphfn::inout(x), foreign), graph_connection_error);
    EXPECT_THROW(setting(graphfn::created(), foreign), graph_connection_error);
    setting(graphfn::created(), other);
    EXPECT_THROW(
        graphfn::ProgramFunction(g, {}, [&](Args&) { return Copy(foreign, foreign.reverse(0)); }, inlined), graph_connection_error);
  }
}

TEST(FunctionErrors, FunctionsMustNotBeEmpty) {
  Graph g(device_of(Machine::cpu).getTarget());
  EXPECT_THROW(graphfn::VoidFunction(g, {}, std::function<void(Args&, Sequence&)>()), poplibs_error);
  EXPECT_THROW(graphfn::VoidFunction(g, {}, std::function<void(Args&, Sequence&, const DebugNameAndId&)>()), poplibs_error);
  EXPECT_THROW(graphfn::ProgramFunction(g, {}, std::function<program::Program(Args&)>()), poplibs_error);
  EXPECT_THROW(graphfn::ProgramFunction(g, {}, std::function<program::Program(Args&, const DebugNameAndId&)>()), poplibs_error);
  EXPECT_THROW(graphfn::TensorFunction(g, {}, std::function<Tensor(Args&, Sequence&)>()), poplibs_error);
  EXPECT_THROW(graphfn::TensorFunction(g, {}, std::function<Tensor(Args&, Sequence&, const DebugNameAndId&)>()), poplibs_error);
}

}  // namespace
}  // namespace oplib
