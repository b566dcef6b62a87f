#include "misuse/world_functions.h"

#include <stdexcept>

namespace misuse {

using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Sequence;

void do_something(World& w, Tensors& parameters, Sequence& program) {
  switch (w.roll(10)) {
    case 0: parameters.clear(); break;
    case 1: parameters.push_back(w.good[0]); break;
    case 2: throw std::runtime_error("of the user");
    case 3: program.add(Maker<Program>::make(w)); break;
    case 4: program.add(program); break;
    case 5:
      if (!parameters.empty()) parameters[0] = Maker<Tensor>::make(w);
      break;
    default: break;
  }
  for (Tensor& t : parameters)
    if (!t.valid() && w.roll(8)) t = w.roll(8) ? w.own.clone(w.good[0]) : Maker<Tensor>::make(w);
  if (parameters.size() > 1 && w.roll(2)) program.add(Copy(parameters[0], parameters[1]));
}

graphfn::ArgSig Maker<graphfn::ArgSig>::make(World& w) {
  if (w.roll(4) == 0) return graphfn::created(text(w));
  if (w.roll(8) == 0) return {static_cast<graphfn::ArgType>(w.roll(2) ? 4 : -1), w.good[0], text(w)};
  return {static_cast<graphfn::ArgType>(w.roll(3)), Maker<Tensor>::make(w), text(w)};
}

namespace {

// A function that does nothing bad, and arguments for it.
struct GoodCall {
  explicit GoodCall(World& w) : is_inlined(w.roll(2)) {
    w.gave_graph = true;
    for (unsigned n = w.roll(4); n > 0; --n) {
      const unsigned kind = w.roll(4);
      const Tensor& like = w.good[w.roll(4)];
      sig.push_back(kind == 3 ? graphfn::created() : graphfn::ArgSig(static_cast<graphfn::ArgType>(kind), like, text(w)));
      args.push_back(kind == 3 ? Tensor() : w.roll(2) ? like : w.own.clone(like));
    }
  }
  graphfn::Signature sig;
  Tensors args;
  bool is_inlined;
};

void create(World& w, Tensors& parameters) {
  for (Tensor& t : parameters)
    if (!t.valid()) t = w.own.clone(w.good[0]);
}

// The arguments, with something in them changed. Those of created parameters are not read.
void change(World& w, GoodCall& c) {
  for (unsigned changes = w.roll(3); changes > 0; --changes) {
    const std::size_t i = w.roll(4);
    if (w.roll(4) == 0) c.args.resize(i);
    if (i >= c.args.size()) continue;
    const bool gave_foreign = w.gave_foreign;
    c.args[i] = Maker<Tensor>::make(w);
    if (i < c.sig.size() && c.sig[i].type == graphfn::CreatedArg) w.gave_foreign = gave_foreign;
  }
}

// Calls the function twice, perhaps after it was moved from.
template <class F, class Call>
void call_function(World& w, F f, const Call& call) {
  if (w.roll(8) == 0) F taken(std::move(f));
  for (int times = 0; times < 2; ++times) call(f);
}

void call_void(World& w) {
  GoodCall c(w);
  graphfn::VoidFunction f(w.own, c.sig, [&](Tensors& parameters, Sequence&) { create(w, parameters); }, c.is_inlined);
  change(w, c);
  call_function(w, std::move(f), [&](graphfn::VoidFunction& of) { of(c.args, w.roll(8) ? w.program : w.other_program, "call"); });
}

void call_program(World& w) {
  GoodCall c(w);
  const auto body = [&](Tensors& parameters) -> Program {
    create(w, parameters);
    return Sequence();
  };
  graphfn::ProgramFunction f(w.own, c.sig, body, c.is_inlined);
  change(w, c);
  call_function(w, std::move(f), [&](graphfn::ProgramFunction& of) { w.program.add(of(c.args, "call")); });
}

void call_tensor(World& w) {
  GoodCall c(w);
  const auto body = [&](Tensors& parameters, Sequence&) {
    create(w, parameters);
    return w.own.clone(w.good[1]);
  };
  graphfn::TensorFunction f(w.own, c.sig, body, c.is_inlined);
  change(w, c);
  call_function(w, std::move(f), [&](graphfn::TensorFunction& of) { static_cast<void>(of(c.args, w.program, "call")); });
}

}  // namespace

graphfn::VoidFunction Maker<graphfn::VoidFunction>::make(World& w) {
  const GoodCall c(w);
  return {w.own, c.sig, [&w](Tensors& parameters, Sequence&) { create(w, parameters); }, c.is_inlined};
}

void add_graph_function_rows(std::vector<Row>& rows) {
  rows.push_back({"poputil::graphfn::VoidFunction::operator()", call_void});
  rows.push_back({"poputil::graphfn::ProgramFunction::operator()", call_program});
  rows.push_back({"poputil::graphfn::TensorFunction::operator()", call_tensor});
}

}  // namespace misuse
