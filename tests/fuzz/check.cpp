#include "check.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <sstream>
#include <variant>

#include "base/values/format_tensor.h"
#include "exec/runner.h"
#include "graph/interpreter.h"
#include "random.h"

namespace pando::fuzz {
namespace {

using graph::Graph;
using graph::Values;

// Everything that can be seen from outside, in the order in which it was seen in one place.
struct Transcript {
  std::map<std::string, std::vector<Values>> seen;
  std::string prints;
  bool prints_defined = true;
  std::string error;  // of the run that ended the case
};

std::string place(std::string_view what, const std::string& handle, unsigned replica) {
  return fmt::format("{} '{}' of replica {}", what, handle, replica);
}

// A function of the host: three outputs from five inputs.
void host_code(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
  std::uint32_t in[5], out[3];
  std::memcpy(in, inputs[0], sizeof in);
  for (int i = 0; i < 3; ++i) out[i] = in[i] * 17 + in[i + 1] + in[i + 2] * 3;
  std::memcpy(outputs[0], out, sizeof out);
}

std::uint64_t bytes_of(const graph::Fifo& fifo) { return fifo.elements * size_of(fifo.type); }
std::uint64_t row_bytes(const graph::RemoteBuffer& buffer) { return buffer.elements * size_of(buffer.type); }

Values defined(std::string bytes, ElementType type) {
  const std::uint64_t elements = bytes.size() / size_of(type);
  return {std::move(bytes), std::string(elements, '\1')};
}

// Does the host write this handle before run `run`? With what?
bool written_before(const graph::HostHandle& handle, unsigned run) { return handle.writable && (run + handle.name.size()) % 2 == 0; }
std::string handle_bytes(const graph::HostHandle& handle, unsigned run, unsigned replica) {
  return host_block(handle.name, replica, run, handle.tensor.num_elements() * size_of(handle.tensor.type()));
}

// --- What the interpreter sees --------------------------------------------------------------------------------------------------

void connect(graph::Interpreter& machine, const Graph& g, Transcript& t, std::map<std::string, std::uint64_t>& sent) {
  for (const graph::Fifo& fifo : g.fifos())
    machine.connect(fifo.handle, [&](unsigned replica, Values& block) {
      const std::string where = place("stream", fifo.handle, replica);
      if (fifo.to_device)
        block.bytes = host_block(fifo.handle, replica, sent[where]++, bytes_of(fifo));
      else
        t.seen[where].push_back(block);
    });
  for (const graph::HostFunction& f : g.host_functions())
    machine.connect_host_function(f.handle, [](unsigned, const auto& in, const auto& out) { host_code(in, out); });
  for (std::uint32_t b = 0; b < g.remote_buffers().size(); ++b)
    for (unsigned r = 0; r < g.replication_factor(); ++r) {
      const graph::RemoteBuffer& buffer = g.remote_buffers()[RemoteBufferId(b)];
      std::string all;
      for (std::uint64_t row = 0; row < buffer.repeats; ++row) all += host_block(buffer.handle, r, row, row_bytes(buffer));
      machine.remote(RemoteBufferId(b), r) = defined(std::move(all), buffer.type);
    }
}

std::vector<std::uint64_t> to_sizes(const graph::Shape& shape) { return {shape.begin(), shape.end()}; }

void look(graph::Interpreter& machine, const Graph& g, Transcript& t) {
  for (const graph::HostHandle& h : g.host_handles())
    for (unsigned r = 0; r < g.replication_factor() && h.readable; ++r)
      t.seen[place("handle", h.name, r)].push_back(machine.read(h.tensor, r));
}

Transcript expected(const Case& test, const Engine& engine) {
  const Graph& g = *test.graph;
  Transcript t;
  std::map<std::string, std::uint64_t> sent;
  graph::Interpreter machine(g);
  connect(machine, g, t, sent);
  try {
    for (unsigned run = 0; run < engine.runs.size(); ++run) {
      for (const graph::HostHandle& h : g.host_handles())
        for (unsigned r = 0; r < g.replication_factor() && written_before(h, run); ++r)
          machine.write(h.tensor, r, defined(handle_bytes(h, run, r), h.tensor.type()));
      machine.run(engine.programs[engine.runs[run]]);
      look(machine, g, t);
    }
  } catch (const std::exception& e) { t.error = e.what(); }
  for (std::uint32_t b = 0; b < g.remote_buffers().size(); ++b)
    for (unsigned r = 0; r < g.replication_factor(); ++r)
      t.seen[place("remote buffer", g.remote_buffers()[RemoteBufferId(b)].handle, r)].push_back(machine.remote(RemoteBufferId(b), r));
  for (const graph::Interpreter::Printed& p : machine.printed()) {
    t.prints_defined = t.prints_defined && p.values.all_defined();
    t.prints += p.title + ": " + format_tensor(p.values.bytes.data(), p.type, to_sizes(p.shape), p.format) + "\n";
  }
  return t;
}

// --- What the executor does -----------------------------------------------------------------------------------------------------

class HostEnd final : public exec::FifoCallback {
 public:
  HostEnd(const graph::Fifo& fifo, unsigned replica, std::vector<Values>* received) : fifo_(fifo), replica_(replica), received_(received) {}

  bool prefetch(void* block) override {
    if (!fifo_.to_device || mixed(next_ + replica_) % 3 == 0) return false;
    fill(block);
    return true;
  }
  void fetch(void* block) override {
    if (fifo_.to_device) return fill(block);
    received_->push_back(defined(std::string(static_cast<const char*>(block), bytes_of(fifo_)), fifo_.type));
  }

 private:
  void fill(void* block) {
    const std::string bytes = host_block(fifo_.handle, replica_, next_++, bytes_of(fifo_));
    std::memcpy(block, bytes.data(), bytes.size());
  }

  graph::Fifo fifo_;
  unsigned replica_;
  std::vector<Values>* received_;
  std::uint64_t next_ = 0;
};

void connect(exec::Runner& runner, const Graph& g, Transcript& t) {
  for (const graph::Fifo& fifo : g.fifos())
    for (unsigned r = 0; r < (fifo.mode == graph::ReplicatedFifo::broadcast ? 1 : g.replication_factor()); ++r)
      runner.connect(fifo.handle, r, std::make_unique<HostEnd>(fifo, r, &t.seen[place("stream", fifo.handle, r)]));
  for (const graph::HostFunction& f : g.host_functions())
    for (unsigned r = 0; r < g.replication_factor(); ++r) runner.connect_host_function(f.handle, r, host_code);
  for (const graph::RemoteBuffer& buffer : g.remote_buffers())
    for (unsigned r = 0; r < g.replication_factor(); ++r)
      for (std::uint64_t row = 0; row < buffer.repeats; ++row)
        runner.copy_to_remote(buffer.handle, host_block(buffer.handle, r, row, row_bytes(buffer)).data(), row, r);
}

// A handle's host data are those of all replicas, one after the other.
void write_handles(exec::Runner& runner, const Graph& g, unsigned run) {
  for (const graph::HostHandle& h : g.host_handles()) {
    if (!written_before(h, run)) continue;
    std::string all;
    for (unsigned r = 0; r < g.replication_factor(); ++r) all += handle_bytes(h, run, r);
    runner.write(h.name, all.data(), all.data() + all.size());
  }
}

void read_handles(exec::Runner& runner, const Graph& g, Transcript& t) {
  for (const graph::HostHandle& h : g.host_handles()) {
    if (!h.readable) continue;
    const std::uint64_t size = h.tensor.num_elements() * size_of(h.tensor.type());
    std::string all(size * g.replication_factor(), '\0');
    runner.read(h.name, all.data(), all.data() + all.size());
    for (unsigned r = 0; r < g.replication_factor(); ++r)
      t.seen[place("handle", h.name, r)].push_back(defined(all.substr(r * size, size), h.tensor.type()));
  }
}

// An engine on a device of its own, run by run.
class Session {
 public:
  Session(const Case& test, const Engine& engine, std::shared_ptr<const tile::Program> program, const Setup& setup)
      : graph_(*test.graph), engine_(engine), runner_(std::move(program), graph_.library(), options_of(setup)) {
    runner_.set_print_stream(&prints_);
    connect(runner_, graph_, transcript_);
  }

  // The next run; false if there is none, or an error ended them.
  bool step() {
    if (next_ == engine_.runs.size() || !transcript_.error.empty()) return false;
    try {
      write_handles(runner_, graph_, next_);
      runner_.run(engine_.runs[next_++]);
      read_handles(runner_, graph_, transcript_);
    } catch (const std::exception& e) { transcript_.error = e.what(); }
    return true;
  }

  Transcript finish() {
    for (const graph::RemoteBuffer& buffer : graph_.remote_buffers())
      for (unsigned r = 0; r < graph_.replication_factor(); ++r) {
        std::string all(row_bytes(buffer) * buffer.repeats, '\0');
        for (std::uint64_t row = 0; row < buffer.repeats; ++row)
          runner_.copy_from_remote(buffer.handle, all.data() + row * row_bytes(buffer), row, r);
        transcript_.seen[place("remote buffer", buffer.handle, r)].push_back(defined(std::move(all), buffer.type));
      }
    transcript_.prints = prints_.str();
    return std::move(transcript_);
  }

 private:
  static exec::Options options_of(const Setup& setup) {
    exec::Options options = setup.exec;
    options.poison_undefined = true;
    return options;
  }

  const Graph& graph_;
  const Engine& engine_;
  Transcript transcript_;
  std::ostringstream prints_;
  exec::Runner runner_;
  unsigned next_ = 0;
};

// Operands of fields that ask for interleaved memory lie in it, but for those that are bound to another tile's bytes: what the
// tile level does not know any more.
std::string interleaved_fault(const tile::Program& program, const Library& library) {
  const auto lies_well = [&](const tile::Operand& o, std::uint64_t bytes) {
    bool any = false;
    for (const MemoryRegion& r : program.machine.regions) {
      any = any || r.interleaved;
      if (r.interleaved && r.begin <= o.offset && o.offset + bytes <= r.end) return true;
    }
    return !any || bytes == 0;
  };
  for (const tile::ComputeStep& step : program.computes)
    for (const tile::VertexGroup& group : step.groups)
      for (std::uint32_t i = 0; i < group.count; ++i) {
        const tile::VertexInstance& v = program.vertices[group.first + i];
        std::size_t at = v.operands;
        for (const Field& f : library[group.codelet].fields) {
          if (!f.is_edge()) continue;
          const bool two_dimensional = f.shape == FieldShape::vector_of_vectors || f.shape == FieldShape::vector_list;
          for (std::size_t rows = two_dimensional ? program.operands[at++].count : 1; rows > 0; --rows, ++at)
            if (f.interleaved && program.operands[at].tile == v.tile &&
                !lies_well(program.operands[at], program.operands[at].count * size_of(f.type)))
              return fmt::format("{}.{} lies at {}, not in interleaved memory", library[group.codelet].name, f.name,
                                 program.operands[at].offset);
        }
      }
  return {};
}

// --- Comparing ------------------------------------------------------------------------------------------------------------------

std::string hex(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string difference(const std::string& where, const std::vector<Values>& want, const std::vector<Values>& have) {
  for (std::size_t n = 0; n < std::min(want.size(), have.size()); ++n) {
    const std::size_t elements = want[n].defined.size();
    const std::size_t size = elements == 0 ? 0 : want[n].bytes.size() / elements;
    if (want[n].bytes.size() != have[n].bytes.size()) return fmt::format("{}, block {}: wrong size", where, n);
    for (std::size_t i = 0; i < elements; ++i) {
      const std::string_view a(want[n].bytes.data() + i * size, size), b(have[n].bytes.data() + i * size, size);
      if (want[n].defined[i] != 0 && a != b)
        return fmt::format("{}, block {}, element {}: {} where the interpreter has {}", where, n, i, hex(b), hex(a));
    }
  }
  if (want.size() != have.size()) return fmt::format("{}: {} blocks, the interpreter has {}", where, have.size(), want.size());
  return {};
}

std::string compare(const Transcript& want, const Transcript& have) {
  if (want.error.empty() != have.error.empty())
    return have.error.empty() ? "no error, the interpreter has: " + want.error : "unexpected error: " + have.error;
  for (const auto& [where, blocks] : want.seen) {
    // After an error, streams may be ahead of each other and memory is anything.
    if (!want.error.empty()) break;
    const auto found = have.seen.find(where);
    const std::vector<Values> none;
    if (std::string d = difference(where, blocks, found == have.seen.end() ? none : found->second); !d.empty()) return d;
  }
  if (want.error.empty() && want.prints_defined && want.prints != have.prints)
    return "printed:\n" + have.prints + "the interpreter has:\n" + want.prints;
  return {};
}

}  // namespace

Setup setup_of(unsigned bits, unsigned threads) {
  Setup s;
  const auto next = [&bits] {
    const bool on = bits % 2 != 0;
    bits /= 2;
    return on;
  };
  for (const compile::Switch& w : compile::kSwitches) s.compile.*w.field = next();
  for (const exec::Switch& w : exec::kSwitches) s.exec.*w.field = next();
  s.reload = next();
  s.compile.validate = true;
  s.exec.threads = threads;
  return s;
}

std::string to_string(const Setup& s) {
  std::string out;
  for (const compile::Switch& w : compile::kSwitches) out += fmt::format("{}={:d} ", w.name, s.compile.*w.field);
  for (const exec::Switch& w : exec::kSwitches) out += fmt::format("{}={:d} ", w.name, s.exec.*w.field);
  return out + fmt::format("reload={:d} threads={}", s.reload, s.exec.threads);
}

namespace {

// The program of an engine, after all static checks. A text: what is wrong, or "skip".
std::variant<std::shared_ptr<const tile::Program>, std::string> compiled(const Case& test, const Engine& engine, const Setup& setup) {
  graph::verify(*test.graph, engine.programs);
  compile::Options options = setup.compile;
  options.bounded_memory = test.graph->machine().bounded_memory;
  compile::Result result = compile::compile(*test.graph, engine.programs, options);
  if (result.out_of_memory) return "skip: " + result.out_of_memory->message();
  const std::vector<std::string> faults = tile::verify(*result.program, test.graph->library());
  if (!faults.empty()) return "tile::verify: " + faults[0];
  if (std::string fault = interleaved_fault(*result.program, test.graph->library()); !fault.empty()) return fault;
  if (!setup.reload) return result.program;
  std::stringstream file;
  tile::write(*result.program, file);
  return std::make_shared<const tile::Program>(tile::read(file));
}

}  // namespace

std::string check(const Case& test, const Setup& setup) {
  try {
    std::vector<Transcript> want;
    std::vector<std::unique_ptr<Session>> sessions;
    for (const Engine& engine : test.engines) {
      want.push_back(expected(test, engine));
      if (want.back().error.find("[undefined-value]") != std::string::npos) return "skip: branches on what is undefined";
      auto program = compiled(test, engine, setup);
      if (const std::string* verdict = std::get_if<std::string>(&program)) return *verdict;
      sessions.push_back(std::make_unique<Session>(test, engine, std::get<0>(program), setup));
    }
    for (bool more = true; more;) {
      more = false;
      for (const auto& session : sessions) more |= session->step();
    }
    for (std::size_t i = 0; i < sessions.size(); ++i)
      if (std::string d = compare(want[i], sessions[i]->finish()); !d.empty()) return i == 0 ? d : "the second engine: " + d;
    return {};
  } catch (const std::exception& e) { return std::string("threw: ") + e.what(); }
}

}  // namespace pando::fuzz
