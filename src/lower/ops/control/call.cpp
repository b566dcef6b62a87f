#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"

namespace pando::lower {

using ir::ValueId;

extern const Row lower_call;
constexpr Row lower_call = {
    .name = "call",
    .lower =
        [](OpLowering& o) {
          Parts& l = o.parts();
          const ir::GraphId g = o.module().graphs(o.op())[0];
          const ir::Graph& graph = o.module().graph(g);
          l.functions.before_running({&g, 1});
          std::vector<Slot> inputs;
          for (ValueId v : o.module().operands(o.op())) inputs.push_back(l.functions.given(g, inputs.size(), v, l.storages.slot(v)));
          l.destinations.find(o.op(), g);
          l.functions.run_graph(g, std::move(inputs));
          const auto results = o.module().results(o.op());
          std::size_t r = 0;
          for (ValueId v : graph.outputs) {
            l.storages.define(results[r], l.functions.brought(v, results[r], l.storages.slot(v)));
            ++r;
          }
          for (std::int64_t i : o.attributes().ints("modified")) {
            const ValueId final = graph.updated_inputs[static_cast<std::size_t>(i)];
            const ValueId parent = o.module().operand(o.op(), static_cast<std::size_t>(i));
            // What a function has written is brought home: the next call writes there again.
            if (l.analysis.is_function(g) && l.storages.reads(l.storages.resolved(parent)) == 0) {
              const Slot home = l.storages.writable(parent, false);
              const poplar::Tensor to = home.tensor, from = l.storages.slot(final).tensor;
              l.storages.assign_all({&to, 1}, {&from, 1});
              l.storages.define(results[r++], home);
            } else {
              l.storages.define(results[r], l.functions.brought(final, results[r], l.storages.slot(final)));
              ++r;
            }
          }
          l.functions.end_graph(g);
        },
};

}  // namespace pando::lower
