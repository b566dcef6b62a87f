// Every row of the op table that has samples, on the machines: the interpreter's results, on one tile and on four.
#include "session/session.h"

#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/semantics/samples.h"
#include "pando/model_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace pando::session {
namespace {

using namespace ir;

struct Machine {
  const char* name;
  const char* device;
  std::int64_t tiles;
};
constexpr Machine kMachines[] = {{"cpu", "cpu", 0}, {"4 tiles", "ipu_model", 4}};

// One op between loads and stores.
std::vector<HostTensor> run_sample(const OpRow& row, const Sample& sample, const std::vector<HostTensor>& data, const Machine& machine) {
  Builder b;
  Module& m = b.module();
  const GraphId main = m.main_graph();
  std::vector<TensorId> operands;
  std::vector<InputData> inputs;
  for (const HostTensor& t : data) {
    const HostStreamId in = m.add_stream({"in", HostStream::Direction::host_to_device, t.dtype(), t.shape()});
    operands.push_back(b.op(main, "host_load", {}, {{"stream", in}})[0]);
    inputs.push_back({in, t.data(), 1});
  }
  const std::vector<TensorId> results = b.op(main, row.name, operands, sample.attributes, {}, sample.in_place);
  std::vector<HostTensor> out;
  std::vector<HostStreamId> streams;
  for (TensorId r : results) {
    const Type type = b.type_of(r);
    out.emplace_back(type.dtype, type.shape);
    streams.push_back(m.add_stream({"out", HostStream::Direction::device_to_host, type.dtype, type.shape}));
    b.op(main, "host_store", std::vector{r}, {{"stream", streams.back()}});
  }
  Options options;
  options.device = machine.device;
  options.tiles_per_ipu = machine.tiles;
  Session session(b, options);
  session.attach();
  std::vector<OutputData> outputs;
  for (std::size_t i = 0; i < out.size(); ++i) outputs.push_back({streams[i], out[i].writable(), 1});
  std::erase_if(inputs, [&](const InputData& i) {
    return std::find(session.inputs().begin(), session.inputs().end(), i.stream) == session.inputs().end();
  });
  session.run(inputs, outputs);
  return out;
}

double tolerance_of(DType t) { return t == DType::float16 ? 4e-3 : t == DType::float32 ? 2e-5 : 0; }

void expect_close(const HostTensor& expected, const HostTensor& found, const std::string& where) {
  const double tolerance = tolerance_of(expected.dtype());
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double e = expected.number(i), f = found.number(i);
    if (std::isnan(e) && std::isnan(f)) continue;
    if (e == f) continue;
    ASSERT_LE(std::abs(e - f), tolerance * (1 + std::abs(e))) << where << ", element " << i << ": expected " << e << ", found " << f;
  }
}

class Rows : public testing::TestWithParam<const OpRow*> {};

TEST_P(Rows, machines_compute_what_the_interpreter_does) {
  const OpRow& row = *GetParam();
  std::size_t number = 0, computed = 0;
  for (const Sample& sample : row.samples()) {
    const std::vector<HostTensor> data = sample_data(sample, 7 + number);
    const std::vector<HostTensor> expected = evaluate(row, data, sample.attributes, sample.in_place);
    for (const Machine& machine : kMachines) {
      const std::string where = std::string(row.name) + " sample " + std::to_string(number) + " on " + machine.name;
      SCOPED_TRACE(where);
      std::vector<HostTensor> found;
      try {
        found = run_sample(row, sample, data, machine);
      } catch (const ModelError& e) {
        ASSERT_EQ(e.id(), "no-such-type-on-tiles") << e.what();
        continue;
      }
      ++computed;
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t r = 0; r < expected.size(); ++r) expect_close(expected[r], found[r], where + ", result " + std::to_string(r));
    }
    ++number;
  }
  EXPECT_GT(computed, 0u);
}

std::vector<const OpRow*> rows_with_samples() {
  std::vector<const OpRow*> all;
  for (const OpRow* row : op_table()) {
    if (row->samples != nullptr) all.push_back(row);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, Rows, testing::ValuesIn(rows_with_samples()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace pando::session
