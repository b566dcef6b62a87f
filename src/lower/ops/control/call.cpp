#include "lower/lowering.h"

namespace pando::lower {

using ir::ValueId;

extern const Row lower_call;
constexpr Row lower_call = {
    .name = "call",
    .lower =
        [](OpLowering& o) {
          Lowering& l = o.lowering();
          const ir::GraphId g = o.module().graphs(o.op())[0];
          const ir::Graph& graph = o.module().graph(g);
          l.before_running({&g, 1});
          std::vector<Slot> inputs;
          for (ValueId v : o.module().operands(o.op())) inputs.push_back(l.given(g, inputs.size(), v, l.slot(v)));
          l.find_destinations(o.op(), g);
          l.run_graph(g, std::move(inputs));
          const auto results = o.module().results(o.op());
          std::size_t r = 0;
          for (ValueId v : graph.outputs) {
            l.define(results[r], l.brought(v, results[r], l.slot(v)));
            ++r;
          }
          for (std::int64_t i : o.attributes().ints("modified")) {
            const ValueId final = graph.finals[static_cast<std::size_t>(i)];
            const ValueId parent = o.module().operand(o.op(), static_cast<std::size_t>(i));
            // What a function has written is brought home: the next call writes there again.
            if (l.is_function(g) && l.analysis().uses(l.resolved(parent)) == 0) {
              const Slot home = l.writable(parent, false);
              const poplar::Tensor to = home.tensor, from = l.slot(final).tensor;
              l.assign_all({&to, 1}, {&from, 1});
              l.define(results[r++], home);
            } else {
              l.define(results[r], l.brought(final, results[r], l.slot(final)));
              ++r;
            }
          }
          l.end_graph(g);
        },
};

}  // namespace pando::lower
