#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_remote_code_load;
constexpr OpRow op_remote_code_load = checked({
    .name = "remote_code_load",
    .doc = "Says that the code of a graph is loaded here, before it is called. It changes no value: it says how long the code must stay in "
           "tile memory.",
    .signature = "remote_code_load(graph: Graph, destination: CODE_LOCATION) -> None",
    .module = "code_copy",
    .attributes = {{{"destination", AttributeKind::text}}},
    .infer =
        [](Inference& in) {
          if (in.attributes().text("destination") != "executable") {
            in.reject("code-destination", "the destination '{}'; only 'executable' is possible", in.attributes().text("destination"));
          }
        },
    .reference = [](Evaluation&) {},
    .in_program_only = true,
    .effects = Effects::code,
    .graphs = 1,
    .popart_type = "RemoteCodeLoad",
    .whole = "it loads the code of a graph",
});

}  // namespace pando::ir
