// Op tables of AIConfigurator as CSV: gemm_perf, context_attention_perf, nccl_perf. They are those of inference kernels.
#include "simulate/csv.h"
#include "simulate/tables/table_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::simulate {

namespace {

bool is_aiconfigurator(const TableFile& file) { return file.text.starts_with("framework,version,device,op_name,"); }

void products(const Csv& csv, TableRows& rows) {
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string& dtype = csv.text(i, "gemm_dtype");
    const char* const type = dtype == "bfloat16" ? "bf16" : dtype == "float16" ? "fp16" : dtype == "fp8" ? "fp8" : nullptr;
    if (type == nullptr) {
      ++rows.left["products of type " + dtype];
      continue;
    }
    if (dtype == "fp8" && rows.machine.eight_bit_operations <= 0) {
      ++rows.left["products in fp8, which the machine of --like does not have"];
      continue;
    }
    // Of a linear layer, forward. Times are milliseconds.
    const double operations = 2.0 * csv.number(i, "m") * csv.number(i, "k") * csv.number(i, "n"), seconds = csv.number(i, "latency") * 1e-3;
    const double peak = dtype == "fp8" ? rows.machine.eight_bit_operations : rows.machine.half_operations;
    if (operations > peak * seconds) {
      ++rows.left["products that are quicker than the peak of the machine of --like"];
      continue;
    }
    rows.row("products", {{"m", csv.count(i, "m")},
                          {"k", csv.count(i, "k")},
                          {"n", csv.count(i, "n")},
                          {"layout", "f"},
                          {"type", type},
                          {"seconds", seconds}});
  }
}

void attention(const Csv& csv, TableRows& rows) {
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string& dtype = csv.text(i, "attn_dtype");
    if (dtype != "bfloat16" && dtype != "float16") {
      ++rows.left["attention of type " + dtype];
      continue;
    }
    if (csv.has("window_size") && csv.integer(i, "window_size") > 0) {
      ++rows.left["attention in a window"];
      continue;
    }
    const std::int64_t heads = csv.count(i, "num_heads"), head = csv.count(i, "head_dim");
    const std::int64_t kv = csv.integer(i, "num_key_value_heads");
    const double operations =
        4.0 * static_cast<double>(csv.count(i, "batch_size") * heads * head) * csv.number(i, "isl") * csv.number(i, "isl");
    const double seconds = csv.number(i, "latency") * 1e-3;
    if (operations > 2 * rows.machine.half_operations * seconds) {
      ++rows.left["attention that is quicker than the peak of the machine of --like"];
      continue;
    }
    rows.row("attention", {{"batch", csv.count(i, "batch_size")},
                           {"heads", heads},
                           {"kv_heads", kv > 0 ? kv : heads},
                           {"seq", csv.count(i, "isl")},
                           {"head_size", head},
                           {"value_size", head},
                           {"backward", false},
                           {"seconds", seconds}});
  }
}

void collectives(const Csv& csv, TableRows& rows) {
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string& op = csv.text(i, "op_name");
    const std::string collective = op == "alltoall" ? "all_to_all" : op;
    if (collective != "all_reduce" && collective != "all_gather" && collective != "reduce_scatter" && collective != "all_to_all") {
      ++rows.left["collectives " + op];
      continue;
    }
    // A message's size is its elements.
    const std::string& dtype = csv.text(i, "nccl_dtype");
    const double element = dtype == "half" || dtype == "bfloat16" ? 2 : dtype == "int8" || dtype == "fp8" ? 1 : dtype == "float" ? 4 : 0;
    if (element == 0) {
      ++rows.left["collectives of type " + dtype];
      continue;
    }
    rows.row("collectives", {{"collective", collective},
                             {"bytes", element * csv.number(i, "message_size")},
                             {"devices", csv.count(i, "num_gpus")},
                             {"nodes", 1},
                             {"beside", 1},
                             {"seconds", csv.number(i, "latency") * 1e-3}});
  }
}

void read_aiconfigurator(const TableFile& file, TableRows& rows) {
  const Csv csv = Csv::read(file.text, file.path);
  if (csv.has("gemm_dtype"))
    products(csv, rows);
  else if (csv.has("attn_dtype") && csv.has("isl"))
    attention(csv, rows);
  else if (csv.has("nccl_dtype"))
    collectives(csv, rows);
  else
    reject_table(file, "gemm_perf, context_attention_perf and nccl_perf are read; it is none of them");
}

}  // namespace

TableFormat format_aiconfigurator() { return {"aiconfigurator", "its op tables as CSV", is_aiconfigurator, read_aiconfigurator}; }

}  // namespace pando::simulate
