// Eight B200: steps and memory of Llama-3 70B (12 layers) and DeepSeek-V2 (4 layers), with ops as measured by shape.
#include "measure/published/sets.h"
#include "search/stack.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace pando::measure {

using namespace search;

namespace {

// "b=1, m=4096, layout=TN" as a map.
std::map<std::string, std::string> fields_of(const std::string& shape) {
  std::map<std::string, std::string> all;
  std::size_t at = 0;
  while (at < shape.size()) {
    const std::size_t end = std::min(shape.find(',', at), shape.size()), equals = shape.find('=', at);
    if (equals < end) all[shape.substr(at, equals - at)] = shape.substr(equals + 1, end - equals - 1);
    at = end + 1;
    while (at < shape.size() && shape[at] == ' ') ++at;
  }
  return all;
}

std::int64_t whole(const std::map<std::string, std::string>& f, const char* key) {
  const auto found = f.find(key);
  std::int64_t n = 0;
  if (found != f.end()) std::from_chars(found->second.data(), found->second.data() + found->second.size(), n);
  return n;
}

Transformer model_of(const simulate::Csv& csv, std::size_t i) {
  const std::string& name = csv.text(i, "model");
  Transformer m = transformer_named(name.starts_with("deepseekv3")   ? "deepseek-v3"
                                    : name.starts_with("deepseek")   ? "deepseek-v2"
                                    : name.find("8x22") != name.npos ? "mixtral-8x22b"
                                    : name.starts_with("mixtral")    ? "mixtral-8x7b"
                                                                     : "llama3-70b");
  m.layers = csv.count(i, "layers");
  m.hidden = csv.count(i, "hidden"), m.heads = csv.count(i, "heads"), m.kv_heads = csv.count(i, "kv_heads");
  m.ffn = csv.count(i, "ffn"), m.vocab = csv.count(i, "vocab"), m.seq = csv.count(i, "seq");
  return m;
}

}  // namespace

MeasuredShapes read_measured_shapes(const simulate::Csv& csv) {
  MeasuredShapes all;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const auto f = fields_of(csv.text(i, "shape"));
    const double e = csv.number(i, "efficiency_measured");
    const std::string& op = csv.text(i, "op");
    if (op == "matmul" && whole(f, "b") == 1) {
      const std::string& layout = f.at("layout");
      const bool accumulates = f.at("accumulate") == "True";
      if (layout == "NT" && !accumulates) continue;
      all.products.push_back({whole(f, "m"), whole(f, "k"), whole(f, "n"), layout == "TN" ? 'f' : layout == "NN" ? 'i' : 'w', e});
    } else if (op == "group_matmul" && f.at("main_grad_dtype") == "fp32") {
      const std::string& stage = f.at("stage");
      all.grouped.push_back({whole(f, "ng"), whole(f, "M"), whole(f, "N"), whole(f, "K"),
                             stage == "fwd"            ? 'f'
                             : stage == "bwd_grad_act" ? 'i'
                                                       : 'w',
                             e});
    } else if (op.starts_with("sdp") && f.at("qkv_contiguous") == "True") {
      all.attentions.push_back({whole(f, "seq_len"), whole(f, "head_num"), whole(f, "qk_head_dim"), op == "sdp_bwd", e});
    }
  }
  simulate::sort_rows(all);
  return all;
}

PublishedSet b200_set(const simulate::Csv& csv, bool memory) {
  PublishedSet set;
  set.name = memory ? "b200_steps memory" : "b200_steps";
  set.note = memory ? "GiB of the fullest device. Two constants: logits take 4 bytes each, gradients of embedding and head are held apart "
                      "for a moment; seen in the calibrating rows."
                    : "ms of an iteration, by --machine b200 --stack megatron. Products and attention as measured by shape, collectives as "
                      "measured; one "
                      "constant, the time of "
                      "each op beside its work, was chosen with "
                      "the calibrating rows.";
  const simulate::Cluster b200 = with_stack(simulate::cluster_named("b200"), stack_named("megatron"));
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const Transformer m = model_of(csv, i);
    Strategy s;
    s.tensor = csv.count(i, "tp"), s.pipeline = csv.count(i, "pp"), s.data = csv.count(i, "dp"), s.context = csv.count(i, "cp"),
    s.expert_in_data = csv.integer(i, "ep");
    s.microbatch = csv.count(i, "microbatch_size");
    s.zero = replicas_of(s) > 1 ? 1 : 0;
    s.sequence_parallel = true;
    s.regather = true;
    const Estimate e = estimate(facts_of(m, b200, csv.count(i, "global_batch")), s);
    PublishedRow r;
    r.set = set.name;
    r.what = csv.text(i, "case");
    r.unit = memory ? "GiB" : "ms";
    r.measured = csv.number(i, memory ? "peak_alloc_GiB_measured" : "iteration_ms_measured");
    r.predicted = memory ? e.memory_bytes() / (1024.0 * 1024 * 1024) : 1e3 * e.seconds;
    r.calibrates = csv.text(i, "type") == "dense" && csv.integer(i, "microbatches") == 4 && (!memory || csv.count(i, "seq") > 4096);
    if (!memory) r.calibrates = r.calibrates && csv.count(i, "seq") == 4096;
    set.rows.push_back(std::move(r));
  }
  return set;
}

}  // namespace pando::measure
