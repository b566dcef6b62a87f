#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

namespace {

// Whether `t` is what the body's type becomes on a device.
bool fits(const Type& body, const Type& t) { return body.dtype == t.dtype && body.shape == t.shape && body.meta_shape == t.meta_shape; }

Device variable_of(const Inference& in) { return Device::variable(static_cast<std::int32_t>(in.attributes().integer("device_var"))); }

}  // namespace

extern const OpRow op_pmap;
constexpr OpRow op_pmap = checked({
    .name = "pmap",
    .doc = "Runs a graph once for each element of its tuples, on the element's device. The graph's types name that device by a variable "
           "(`device_var`); "
           "results are tuples with the graph's outputs, on the operands' devices.",
    .operands = {{{.name = "tuples", .variadic = true}}},
    .attributes = {{{"device_var", AttributeKind::integer}}},
    .infer =
        [](Inference& in) {
          const Graph& body = in.module().graph(in.graph());
          if (in.operands() == 0 || in.operands() != body.inputs.size()) {
            in.reject("operand-count", "graph '{}' has {} inputs, {} tuples were given", body.name, body.inputs.size(), in.operands());
          }
          const std::vector<Type> first = tuple_elements(in, 0);
          for (std::size_t i = 0; i < in.operands(); ++i) {
            const std::vector<Type> elements = tuple_elements(in, i);
            if (elements.size() != first.size()) in.reject("tuple-lengths", "tuples of {} and {} elements", first.size(), elements.size());
            const Type& input = in.module().type_of(body.inputs[i]);
            if (input.place.device != variable_of(in))
              in.reject("device-variable", "input {} of graph '{}' does not lie on the device variable d{}", i, body.name,
                        in.attributes().integer("device_var"));
            for (std::size_t k = 0; k < elements.size(); ++k) {
              if (!fits(input, elements[k])) {
                in.reject("graph-input-type", "element {} of operand {} is {}, graph '{}' takes {}", k, i,
                          in.module().types().to_string(elements[k]), body.name, in.module().types().to_string(input));
              }
              if (elements[k].place.device != first[k].place.device) {
                in.reject("different-devices", "element {} of operand {} lies on device {}, that of operand 0 on device {}", k, i,
                          elements[k].place.device.value, first[k].place.device.value);
              }
            }
          }
          for (ValueId o : body.outputs) {
            std::vector<Type> elements;
            for (const Type& f : first) {
              elements.push_back(in.module().type_of(o));
              if (elements.back().place.device == variable_of(in)) elements.back().place = f.place;
            }
            tuple_result(in, std::move(elements));
          }
        },
    .reference_group =
        [](GroupEvaluation& e) {
          const GraphId graph = e.module().graphs(e.op())[0];
          const std::size_t outputs = e.module().graph(graph).outputs.size(), count = e.operands(0)[0].elements.size();
          std::vector<std::size_t> all(e.replicas());
          std::vector<std::vector<HostValue>> results(e.replicas(), std::vector<HostValue>(outputs));
          for (std::size_t k = 0; k < count; ++k) {
            ReplicaValues inputs(e.replicas());
            for (std::size_t r = 0; r < e.replicas(); ++r) {
              all[r] = r;
              for (const HostValue& tuple : e.operands(r)) inputs[r].push_back(tuple.elements[k]);
            }
            ReplicaValues out = e.run_graph(graph, std::move(inputs), all);
            for (std::size_t r = 0; r < e.replicas(); ++r) {
              for (std::size_t o = 0; o < outputs; ++o) results[r][o].elements.push_back(std::move(out[r][o]));
            }
          }
          for (std::size_t r = 0; r < e.replicas(); ++r) {
            for (HostValue& v : results[r]) e.result(r, std::move(v));
          }
        },
    .in_program_only = true,
    .moves = true,
    .graphs = 1,
    .whole = "devices meet in it: the program says where its operands lie",
    .control = Control::map,
});

}  // namespace pando::ir
