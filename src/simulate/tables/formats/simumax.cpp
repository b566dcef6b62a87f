// SimuMax' configs/system/*.json: shares of the peak by shape, bandwidths, networks.
#include "base/error.h"
#include "simulate/tables/table_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace pando::simulate {

namespace {

using Json = nlohmann::ordered_json;
using ShapeFields = std::map<std::string, std::string, std::less<>>;

bool is_simumax(const TableFile& file) {
  const Json j = object_of(file);
  return j.is_object() && j.contains("accelerator") && j.contains("networks");
}

// "b=1, m=4096, k=5120, layout=TN".
ShapeFields fields_of(std::string_view text) {
  ShapeFields all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos) all.emplace(one.substr(0, equals), one.substr(equals + 1));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return all;
}

class SimumaxReader {
 public:
  SimumaxReader(const TableFile& file, TableRows& rows) : file_(file), rows_(rows) {}

  void read() {
    const Json j = object_of(file_);
    const Json& accelerator = member(j, "accelerator");
    const Json& op = member(accelerator, "op");
    rows_.set("half_operations", rows_.machine.half_operations, 1e12 * number(member(op, "default"), "tflops"));
    if (op.contains("fp8_matmul"))
      rows_.set("eight_bit_operations", rows_.machine.eight_bit_operations, 1e12 * number(op["fp8_matmul"], "tflops"));
    rows_.set("memory_bytes", rows_.machine.memory_bytes, static_cast<std::int64_t>(number(accelerator, "mem_gbs") * (1 << 30)));
    bandwidth(member(member(accelerator, "bandwidth"), "default"));
    for (const auto& [name, one] : op.items()) {
      if (!one.is_object() || !one.contains("accurate_efficient_factor")) continue;
      for (const auto& [shape, share] : one["accurate_efficient_factor"].items()) {
        if (!share.is_number()) reject_table(file_, fmt::format("the share of '{}' is {}; a number is expected", shape, share.dump()));
        row(name, shape, fields_of(shape), share.get<double>());
      }
    }
    network(member(j, "networks"));
  }

 private:
  const Json& member(const Json& j, const char* name) const {
    if (!j.is_object() || !j.contains(name)) reject_table(file_, fmt::format("it lacks '{}'", name));
    return j[name];
  }
  double number(const Json& j, const char* name) const {
    const Json& v = member(j, name);
    if (!v.is_number() || !(v.get<double>() > 0))
      reject_table(file_, fmt::format("'{}' is {}; a number over 0 is expected", name, v.dump()));
    return v.get<double>();
  }
  std::int64_t whole(const std::string& shape, const ShapeFields& f, std::string_view name) const {
    const auto at = f.find(name);
    std::int64_t n = 0;
    if (at == f.end() || std::from_chars(at->second.data(), at->second.data() + at->second.size(), n).ec != std::errc() || n < 1)
      reject_table(file_, fmt::format("'{}' has no whole number '{}'", shape, name));
    return n;
  }
  static std::string text(const ShapeFields& f, std::string_view name) {
    const auto at = f.find(name);
    return at == f.end() ? "" : at->second;
  }

  void bandwidth(const Json& j) {
    rows_.set("memory_bytes_per_second", rows_.machine.memory_bytes_per_second, 1e9 * number(j, "gbps"));
    Efficiency e;
    e.points = {{1, number(j, "efficient_factor")}};
    rows_.set("memory_efficiency", rows_.machine.memory_efficiency, e);
  }

  void row(const std::string& op, const std::string& shape, const ShapeFields& f, double share) {
    if (op == "matmul" || op == "fp8_matmul")
      product(op, shape, f, share);
    else if (op == "group_matmul")
      grouped(shape, f, share);
    else if (op == "sdp_fwd" || op == "sdp_bwd")
      attention(op, shape, f, share);
    else
      ++rows_.left["ops '" + op + "'"];
  }

  void product(const std::string& op, const std::string& shape, const ShapeFields& f, double share) {
    if (whole(shape, f, "b") != 1) return void(++rows_.left["products of several at once"]);
    const std::string layout = text(f, "layout");
    // The weight gradient is added to what is there.
    if (layout == "NT" && text(f, "accumulate") != "True") return void(++rows_.left["gradients of weights that are not added up"]);
    const char* const as = layout == "TN" ? "f" : layout == "NN" ? "i" : layout == "NT" ? "w" : nullptr;
    if (as == nullptr) reject_table(file_, fmt::format("the layout of '{}' is '{}'; TN, NN or NT is expected", shape, layout));
    rows_.row("products", {{"m", whole(shape, f, "m")},
                           {"k", whole(shape, f, "k")},
                           {"n", whole(shape, f, "n")},
                           {"layout", as},
                           {"type", op == "matmul" ? "bf16" : "fp8"},
                           {"efficiency", share}});
  }

  void grouped(const std::string& shape, const ShapeFields& f, double share) {
    if (text(f, "main_grad_dtype") != "fp32") return void(++rows_.left["products of experts whose gradients are not in single precision"]);
    const std::string stage = text(f, "stage");
    rows_.row("products", {{"groups", whole(shape, f, "ng")},
                           {"m", whole(shape, f, "M")},
                           {"k", whole(shape, f, "K")},
                           {"n", whole(shape, f, "N")},
                           {"layout", stage == "fwd"            ? "f"
                                      : stage == "bwd_grad_act" ? "i"
                                                                : "w"},
                           {"type", "bf16"},
                           {"efficiency", share}});
  }

  void attention(const std::string& op, const std::string& shape, const ShapeFields& f, double share) {
    if (text(f, "qkv_contiguous") != "True") return void(++rows_.left["attention whose operands are not contiguous"]);
    rows_.row("attention", {{"batch", whole(shape, f, "batch")},
                            {"heads", whole(shape, f, "head_num")},
                            {"kv_heads", whole(shape, f, "kv_head_num")},
                            {"seq", whole(shape, f, "seq_len")},
                            {"head_size", whole(shape, f, "qk_head_dim")},
                            {"value_size", whole(shape, f, "v_head_dim")},
                            {"backward", op == "sdp_bwd"},
                            {"efficiency", share}});
  }

  // The first level that a file has of a node, and what is between nodes. An all-reduce stands for all collectives.
  void network(const Json& j) {
    const auto take = [&](const char* name, std::size_t level) {
      if (!j.contains(name)) return false;
      const Json& band = member(j[name], "bandwidth");
      const Json& reduce = member(member(j[name], "op"), "all_reduce");
      const Json& share = reduce.contains("efficient_factor") ? reduce : band;
      NetworkLevel* const l = rows_.set_level(level, 1e9 * number(band, "gbps"), {{1, number(share, "efficient_factor")}});
      if (l != nullptr) l->latency = 1e-6 * number(reduce.contains("latency_us") ? reduce : band, "latency_us");
      return l != nullptr;
    };
    for (const char* node : {"high_intra_node", "intra_node_pcie_8x", "low_intra_node"}) {
      if (take(node, 0)) break;
    }
    take("inter_node", 1);
  }

  const TableFile& file_;
  TableRows& rows_;
};

void read_simumax(const TableFile& file, TableRows& rows) { SimumaxReader(file, rows).read(); }

}  // namespace

TableFormat format_simumax() { return {"simumax", "a system of SimuMax", is_simumax, read_simumax}; }

}  // namespace pando::simulate
