#include "search/fit/timed_steps.h"

#include "base/source_location.h"
#include "search/settings/emit_settings.h"

#include <poplar/exceptions.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>

namespace pando::search {

namespace {

using simulate::Csv;

// What a column may be called, too.
struct Alias {
  std::string_view column;
  std::array<std::string_view, 3> others;
};
constexpr Alias kAliases[] = {
    {"layers", {"num_layers"}},
    {"hidden", {"hidden_size"}},
    {"heads", {"num_heads", "num_attention_heads"}},
    {"kv_heads", {"num_query_groups"}},
    {"ffn", {"ffn_hidden_size"}},
    {"vocab", {"vocab_size"}},
    {"seq", {"seq_length"}},
    {"tp", {"tensor"}},
    {"pp", {"pipeline"}},
    {"dp", {"data", "fsdp"}},
    {"cp", {"context"}},
    {"ep", {"expert"}},
    {"interleave", {"vp"}},
    {"microbatch_size", {"local_batch", "micro_batch_size"}},
    {"global_batch", {"batch", "global_batch_size"}},
    {"microbatches", {"grad_accum"}},
    {"gpus", {"devices", "world_size"}},
    {"step_s", {"step_s_measured", "iteration_s", "iteration_s_measured"}},
    {"step_ms", {"step_ms_measured", "iteration_ms", "iteration_ms_measured"}},
    {"tokens_per_s_per_gpu", {"tokens_per_s_per_gpu_measured"}},
    {"tokens_per_s", {"tokens_per_s_measured"}},
    {"samples_per_s", {"samples_per_s_measured"}},
    {"memory_GiB", {"memory_GiB_measured", "peak_GiB", "allocated_GiB"}},
};

constexpr const char* kTimes[] = {"step_s", "step_ms", "tokens_per_s_per_gpu", "tokens_per_s", "samples_per_s"};

class StepReader {
 public:
  StepReader(const Csv& csv, const std::string& file, const simulate::Cluster& cluster, const std::string& words)
      : csv_(csv), file_(file), cluster_(cluster), words_(words) {}

  TimedSteps read() {
    if (csv_.rows() == 0) reject("it has no rows");
    if (!column("model") && !column("layers")) reject("no column says what ran: 'model', or 'layers', 'hidden' and 'heads', are expected");
    bool timed = false;
    for (const char* c : kTimes) timed = timed || column(c).has_value();
    if (!timed)
      reject(
          "no column says how long a step took: 'step_s', 'step_ms', 'tokens_per_s_per_gpu', 'tokens_per_s' or 'samples_per_s' is "
          "expected");
    TimedSteps all;
    for (std::size_t i = 0; i < csv_.rows(); ++i) row(i, all);
    return all;
  }

 private:
  [[noreturn]] void reject(const std::string& why) const { fail_at(ErrorKind::poplar_error, "timed-steps", {file_}, "{}", why); }
  [[noreturn]] void reject_row(std::size_t i, const std::string& why) const {
    fail_at(ErrorKind::poplar_error, "timed-steps", {file_, csv_.line(i)}, "{}", why);
  }

  std::optional<std::string> column(std::string_view name) const {
    if (csv_.has(name)) return std::string(name);
    for (const Alias& a : kAliases) {
      if (a.column != name) continue;
      for (const std::string_view other : a.others) {
        if (!other.empty() && csv_.has(other)) return std::string(other);
      }
    }
    return std::nullopt;
  }
  bool has(std::size_t i, std::string_view name) const {
    const auto c = column(name);
    return c && !csv_.empty(i, *c);
  }
  std::int64_t count(std::size_t i, std::string_view name, std::int64_t otherwise) const {
    return has(i, name) ? csv_.count(i, *column(name)) : otherwise;
  }
  double number(std::size_t i, std::string_view name) const { return has(i, name) ? csv_.number(i, *column(name)) : 0; }

  Transformer model(std::size_t i) const {
    const std::int64_t seq = count(i, "seq", 0);
    if (!has(i, "layers")) {
      if (!has(i, "model")) reject_row(i, "neither 'model' nor 'layers' is given");
      return transformer_named(csv_.text(i, "model"), seq);
    }
    Transformer t;
    t.name = column("model") ? csv_.text(i, "model") : fmt::format("{} layers of {}", count(i, "layers", 1), count(i, "hidden", 1));
    for (const char* needed : {"hidden", "heads", "seq"}) {
      if (!has(i, needed)) reject_row(i, fmt::format("'{}' is not given", needed));
    }
    t.layers = count(i, "layers", 1), t.hidden = count(i, "hidden", 1), t.heads = count(i, "heads", 1), t.seq = seq;
    t.kv_heads = count(i, "kv_heads", 0), t.ffn = count(i, "ffn", 4 * t.hidden), t.vocab = count(i, "vocab", t.vocab);
    t.gated = csv_.has("gated") && csv_.integer(i, "gated") != 0;
    // Attention of today keeps no scores and has no masks; where it is computed again, it had them.
    const bool scores = has(i, "recompute") && recompute_word(csv_.text(i, "recompute")) == "selective";
    t.keeps_scores = csv_.has("keeps_scores") ? csv_.integer(i, "keeps_scores") != 0 : scores;
    t.dropout = csv_.has("dropout") ? csv_.integer(i, "dropout") != 0 : scores;
    if (t.hidden % t.heads != 0) reject_row(i, fmt::format("{} heads do not divide a width of {}", t.heads, t.hidden));
    return t;
  }

  // What a table says behind it is left out.
  static std::string recompute_word(const std::string& cell) {
    const std::string first = cell.substr(0, cell.find('+'));
    return first == "attention" ? "selective" : first;
  }

  // With the number of samples.
  std::pair<Strategy, std::int64_t> strategy(std::size_t i, const Transformer& m) const {
    const std::int64_t gpus = count(i, "gpus", 0);
    std::int64_t batch = count(i, "global_batch", 0);
    if (column("strategy") && !csv_.empty(i, "strategy")) {
      const ReadSettings r = settings_of(csv_.text(i, "strategy"), {m, cluster_, batch}, gpus, batch);
      if (r.batch == 0) reject_row(i, "'global_batch' is not given");
      return {r.strategy, r.batch};
    }
    Strategy s = parse_strategy(words_, Spelling::brief);
    s.tensor = count(i, "tp", 1), s.pipeline = count(i, "pp", 1), s.context = count(i, "cp", 1), s.expert_in_data = count(i, "ep", 1);
    s.stages_per_rank = count(i, "interleave", 1), s.microbatch = count(i, "microbatch_size", 1);
    const std::int64_t others = std::int64_t{s.tensor} * s.pipeline * s.context;
    if (has(i, "dp")) {
      s.data = count(i, "dp", 1);
    } else {
      if (gpus == 0) reject_row(i, "neither 'dp' nor 'gpus' is given");
      if (gpus % others != 0)
        reject_row(i, fmt::format("{} devices do not divide over t={} p={} c={}", gpus, s.tensor, s.pipeline, s.context));
      s.data = gpus / others;
    }
    if (batch == 0 && has(i, "microbatches")) batch = count(i, "microbatches", 1) * s.data * s.microbatch;
    if (batch == 0) reject_row(i, "neither 'global_batch' nor 'microbatches' is given");
    std::string words;
    if (has(i, "zero")) words += fmt::format(" zero={}", csv_.integer(i, *column("zero")));
    if (has(i, "recompute")) words += " recompute=" + recompute_word(csv_.text(i, "recompute"));
    if (words.empty()) return {s, batch};
    const Strategy said = parse_strategy(words, Spelling::brief);
    if (has(i, "zero")) s.zero = said.zero;
    if (has(i, "recompute")) s.recompute = said.recompute;
    if (replicas_of(s) == 1) s.zero = 0;
    if (has(i, "recompute") && csv_.text(i, "recompute").ends_with("+sequence_parallel") && s.tensor > 1) {
      s.sequence_parallel = true;
      s.regather = !recomputes_all(s);
    }
    return {s, batch};
  }

  double seconds(std::size_t i, const TimedStep& r) const {
    const double samples = static_cast<double>(r.batch), tokens = samples * static_cast<double>(r.model.seq);
    if (has(i, "step_s")) return number(i, "step_s");
    if (has(i, "step_ms")) return number(i, "step_ms") / 1e3;
    if (has(i, "tokens_per_s_per_gpu")) return tokens / static_cast<double>(r.strategy.devices()) / number(i, "tokens_per_s_per_gpu");
    if (has(i, "tokens_per_s")) return tokens / number(i, "tokens_per_s");
    if (has(i, "samples_per_s")) return samples / number(i, "samples_per_s");
    return 0;
  }

  // Why a row is none that the model could express; empty: it may be one.
  std::string no_row(std::size_t i) const {
    if (csv_.has("out_of_memory") && !csv_.empty(i, "out_of_memory") && csv_.integer(i, "out_of_memory") != 0)
      return "it ran out of memory";
    if (csv_.has("method") && !csv_.empty(i, "method") && csv_.text(i, "method") != "baseline")
      return fmt::format("method '{}'", csv_.text(i, "method"));
    bool timed = false;
    for (const char* c : kTimes) timed = timed || has(i, c);
    return timed ? "" : "it has no time";
  }

  void row(std::size_t i, TimedSteps& all) const {
    if (const std::string why = no_row(i); !why.empty()) {
      all.left_out.push_back(fmt::format("line {}: {}", csv_.line(i), why));
      return;
    }
    TimedStep r;
    r.line = csv_.line(i);
    try {
      r.model = model(i);
      std::tie(r.strategy, r.batch) = strategy(i, r.model);
    } catch (const poplar::poplar_error& e) {
      // What its text says is said with its line.
      const std::string what = e.what();
      if (what.starts_with(file_)) throw;
      reject_row(i, what);
    }
    r.what = fmt::format("{} seq={} batch={} {}", r.model.name, r.model.seq, r.batch, to_string(r.strategy, Spelling::brief));
    r.seconds = seconds(i, r);
    if (!(r.seconds > 0 && r.seconds < 1e9)) reject_row(i, fmt::format("a step of {:g} seconds; a positive number is expected", r.seconds));
    r.memory_bytes = number(i, "memory_GiB") * kGib;
    const Violation v = first_violation(facts_of(r.model, cluster_, r.batch), r.strategy);
    if (v)
      all.left_out.push_back(fmt::format("line {}: {}: {}: {}", csv_.line(i), r.what, v.rule, v.message));
    else
      all.rows.push_back(std::move(r));
  }

  const Csv& csv_;
  const std::string& file_;
  const simulate::Cluster& cluster_;
  const std::string& words_;
};

}  // namespace

TimedSteps timed_steps(const Csv& csv, const std::string& file, const simulate::Cluster& cluster, const std::string& words) {
  return StepReader(csv, file, cluster, words).read();
}

}  // namespace pando::search
