#include "simulate/tables/table_format.h"

#include "simulate/cluster_json.h"

#include <poplar/exceptions.hpp>

#include <gmock/gmock.h>

namespace pando::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The machine that one file makes of an H100; `notes`: what is said of it.
Cluster machine_of(const std::string& path, const std::string& text, std::vector<std::string>& notes, const std::string& device = "") {
  return with_tables(cluster_named("h100"), {{path, text, device}}, notes);
}
std::string message_of(const std::string& path, const std::string& text, const std::string& device = "") {
  std::vector<std::string> notes;
  try {
    machine_of(path, text, notes, device);
  } catch (const poplar::poplar_error& e) { return e.what(); }
  return "taken";
}

const std::string kNccl =
    "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20\n"
    "#  Rank  0 Group  0 Pid  1 on first device  0 [0x07] NVIDIA H100\n"
    "#  Rank  1 Group  0 Pid  2 on first device  1 [0x0a] NVIDIA H100\n"
    "#  Rank  2 Group  0 Pid  1 on second device  0 [0x07] NVIDIA H100\n"
    "#  Rank  3 Group  0 Pid  2 on second device  1 [0x0a] NVIDIA H100\n"
    "#                                                       out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    "     1048576        262144     float     sum      -1    40.00   26.21   39.32      0    41.00   25.57   38.36      0\n"
    "     2097152        524288     float     sum      -1    60.00   34.95   52.43      0    61.00   34.38   51.57      0\n"
    "# Avg bus bandwidth    : 45\n";

TEST(Tables, NcclTests) {
  std::vector<std::string> notes;
  const Cluster c = machine_of("out/all_reduce_perf.txt", kNccl, notes);
  EXPECT_THAT(notes, ElementsAre("out/all_reduce_perf.txt: nccl-tests, 2 rows and 0 numbers"));
  // The rows go before the curves; of two nodes with two devices each.
  const Group four = {.inner = 2, .outer = 2, .inner_level = 0, .outer_level = 1};
  EXPECT_DOUBLE_EQ(transfer_time(c, Collective::all_reduce, 1 << 20, four).seconds, 40e-6);
  EXPECT_DOUBLE_EQ(transfer_time(c, Collective::all_reduce, 1 << 21, four).seconds, 60e-6);
  EXPECT_THAT(c.source, HasSubstr("all_reduce_perf.txt; the rest as of h100"));
  // What the machine was measured otherwise is still there, and the file is one that is read.
  EXPECT_EQ(c.measured.shapes, cluster_named("h100").measured.shapes);
  EXPECT_EQ(cluster_from_json(to_json(c), "mine.json"), c);
  EXPECT_THAT(message_of("out.txt", kNccl), HasSubstr("out.txt: neither the output nor the file's name says which program"));
  EXPECT_THAT(message_of("reduce_perf.txt", kNccl.substr(kNccl.find("#       size"))), HasSubstr("no two lines '# Rank"));
  std::string slow = kNccl;
  slow.replace(slow.find("40.00"), 5, "fast!");
  EXPECT_THAT(message_of("all_reduce_perf.txt", slow), HasSubstr("line 8: the time is 'fast!'"));
}

TEST(Tables, AIConfigurator) {
  const std::string head = "framework,version,device,op_name,kernel_source,";
  std::vector<std::string> notes;
  const Cluster c = with_tables(cluster_named("h100"),
                                {{"gemm_perf.txt",
                                  head + "gemm_dtype,m,n,k,latency\n"
                                         "TRTLLM,1,H100,gemm,x,bfloat16,8192,4096,2048,0.3\n"
                                         "TRTLLM,1,H100,gemm,x,fp8,8192,4096,2048,0.2\n"
                                         "TRTLLM,1,H100,gemm,x,int8_wo,8192,4096,2048,0.2\n"
                                         "TRTLLM,1,H100,gemm,x,bfloat16,8192,8192,8192,0.0001\n",
                                  ""},
                                 {"nccl_perf.txt",
                                  head + "nccl_dtype,num_gpus,message_size,latency\n"
                                         "NCCL,2.27,H100,all_gather,x,half,8,524288,0.05\n"
                                         "NCCL,2.27,H100,alltoall,x,half,8,524288,0.04\n",
                                  ""},
                                 {"context_attention_perf.txt",
                                  head + "batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,kv_cache_dtype,step,latency\n"
                                         "TRTLLM,1,H100,context_attention,x,1,4096,32,8,128,bfloat16,bfloat16,0,1.0\n"
                                         "TRTLLM,1,H100,context_attention,x,1,4096,32,8,128,fp8,fp8,0,1.0\n",
                                  ""}},
                                notes);
  EXPECT_THAT(notes,
              ElementsAre("gemm_perf.txt: aiconfigurator, 2 rows and 0 numbers", "  left out: 1 row: products of type int8_wo",
                          "  left out: 1 row: products that are quicker than the peak of the machine of --like",
                          "nccl_perf.txt: aiconfigurator, 2 rows and 0 numbers",
                          "context_attention_perf.txt: aiconfigurator, 1 row and 0 numbers", "  left out: 1 row: attention of type fp8"));
  ASSERT_EQ(c.measured.shapes.products.size(), 2u);
  // As a share of the peak, without the launch.
  const auto share = product_share(c.measured.shapes, 8192, 2048, 4096, 'f', ProductType::bf16);
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->efficiency, 2.0 * 8192 * 4096 * 2048 / (3e-4 - c.launch) / c.half_operations, 1e-9);
  ASSERT_EQ(c.measured.shapes.attentions.size(), 1u);
  EXPECT_EQ(c.measured.shapes.attentions[0].kv_heads, 8);
  // Messages are counted in elements of two bytes.
  EXPECT_DOUBLE_EQ(*collective_seconds(c.measured, Collective::all_gather, 1 << 20, 8, 1, 1), 5e-5);
  EXPECT_DOUBLE_EQ(*collective_seconds(c.measured, Collective::all_to_all, 1 << 20, 8, 1, 1), 4e-5);
  EXPECT_THAT(message_of("moe_perf.txt", head + "moe_dtype,latency\na,b,c,d,e,f,1\n"), HasSubstr("it is none of them"));
  EXPECT_THAT(message_of("gemm_perf.parquet", "PAR1..."), HasSubstr("it is a Parquet file"));
  EXPECT_THAT(message_of("gemm_perf.txt", "version https://git-lfs.github.com/spec/v1\n"), HasSubstr("a pointer of Git LFS"));
}

const std::string kSystem = R"({"sys_name": "mine", "num_per_node": 8, "accelerator": {"mem_gbs": 80,
 "op": {"default": {"tflops": 312, "efficient_factor": 0.75},
  "matmul": {"tflops": 312, "accurate_efficient_factor": {
   "b=1, m=4096, k=5120, n=1536, layout=TN, accumulate=False, out_dtype=bf16": 0.78,
   "b=1, m=4096, k=1536, n=5120, layout=NN, accumulate=False, out_dtype=bf16": 0.73,
   "b=1, m=1536, k=4096, n=5120, layout=NT, accumulate=True, out_dtype=fp32": 0.62,
   "b=4, m=4096, k=5120, n=1536, layout=TN, accumulate=False, out_dtype=bf16": 0.5}},
  "sdp_bwd": {"tflops": 312, "accurate_efficient_factor": {
   "batch=1, seq_len=4096, head_num=32, kv_head_num=8, qk_head_dim=128, v_head_dim=128, qkv_contiguous=True": 0.97}},
  "group_matmul": {"tflops": 312, "accurate_efficient_factor": {
   "ng=40, M=616, N=3072, K=5120, dtype=bf16, main_grad_dtype=fp32, stage=bwd_grad_w": 0.51}}},
 "bandwidth": {"default": {"efficient_factor": 0.91, "gbps": 1600, "latency_us": 40}}},
 "networks": {"intra_node_pcie_8x": {"bandwidth": {"efficient_factor": 0.5, "gbps": 30, "latency_us": 10},
   "op": {"all_reduce": {"scale": 2, "offset": -1, "efficient_factor": 0.4, "latency_us": 9}}},
  "inter_node": {"bandwidth": {"efficient_factor": 0.8, "gbps": 25, "latency_us": 10}, "op": {"all_reduce": {"scale": 2, "offset": -1}}}}})";

TEST(Tables, SimuMax) {
  std::vector<std::string> notes;
  const Cluster c = machine_of("a100.json", kSystem, notes);
  EXPECT_THAT(notes, ElementsAre("a100.json: simumax, 5 rows and 6 numbers", "  left out: 1 row: products of several at once"));
  EXPECT_EQ(c.half_operations, 312e12);
  EXPECT_EQ(c.memory_bytes, 80LL << 30);
  EXPECT_DOUBLE_EQ(c.memory_bytes_per_second * c.memory_efficiency.at(1e6), 0.91 * 1.6e12);
  EXPECT_DOUBLE_EQ(product_share(c.measured.shapes, 4096, 5120, 1536, 'f', ProductType::bf16)->efficiency, 0.78);
  EXPECT_DOUBLE_EQ(product_share(c.measured.shapes, 1536, 4096, 5120, 'w', ProductType::bf16)->efficiency, 0.62);
  ASSERT_EQ(c.measured.shapes.grouped.size(), 1u);
  EXPECT_EQ(c.measured.shapes.grouped[0].layout, 'w');
  ASSERT_EQ(c.measured.shapes.attentions.size(), 1u);
  EXPECT_TRUE(c.measured.shapes.attentions[0].backward);
  EXPECT_EQ(c.levels[0].bytes_per_second, 30e9);
  EXPECT_DOUBLE_EQ(c.levels[0].latency, 9e-6);
  EXPECT_DOUBLE_EQ(c.levels[1].efficiency.at(1e6), 0.8);
  std::string broken = kSystem;
  broken.replace(broken.find("layout=TN"), 9, "layout=XX");
  EXPECT_THAT(message_of("a.json", broken), HasSubstr("'XX'; TN, NN or NT is expected"));
  broken = kSystem;
  broken.replace(broken.find("k=5120"), 6, "k=much");
  EXPECT_THAT(message_of("a.json", broken), HasSubstr("has no whole number 'k'"));
  EXPECT_THAT(message_of("a.json", R"({"accelerator": {}, "networks": {}})"), HasSubstr("it lacks 'op'"));
}

TEST(Tables, Galvatron) {
  std::vector<std::string> notes;
  const Cluster c =
      with_tables(cluster_named("a100-80"),
                  {{"allreduce_bandwidth_2nodes_8gpus_per_node.json",
                    R"({"allreduce_size_16_consec_1": 44.7, "allreduce_size_8_consec_1": 155.6, "allreduce_size_8_consec_0": 20.8})", ""},
                   {"sp_time_1nodes_8gpus_per_node.json", R"({"allreduce_size_8_1MB_time": 0.08, "all2all_size_8_1MB_time": 0.05})", ""},
                   {"overlap_coefficient.json", R"({"overlap_coe": 1.125})", ""}},
                  notes);
  EXPECT_EQ(c.levels[0].bytes_per_second, 155.6e9);
  EXPECT_EQ(c.levels[1].shared_bytes_per_second, 44.7e9);
  EXPECT_DOUBLE_EQ(c.levels[0].slowdown, 0.125);
  EXPECT_DOUBLE_EQ(transfer_time(c, Collective::all_reduce, 1 << 20, group_of(c, 0, 8, 1)).seconds, 8e-5);
  EXPECT_THAT(message_of("p2p_bandwidth_1nodes_8gpus_per_node.json", R"({"pp_size_2": 163.6})"), HasSubstr("it has nothing of a machine"));
  EXPECT_THAT(message_of("bandwidth.json", R"({"allreduce_size_8_consec_1": 155.6})"), HasSubstr("NODESnodes_DEVICESgpus_per_node.json"));
  EXPECT_THAT(message_of("x_1nodes_8gpus_per_node.json", R"({"allreduce_size_8_consec_1": 0})"), HasSubstr("a number over 0 is expected"));
}

TEST(Tables, Sailor) {
  const std::string text = R"({"inter": {"A100": {"1": [[0, 0.5, 2], 4e9], "4": [[0, 0.5, 4], 6e9]}, "V100": {"1": [[0, 0, 1], 1e9]}},
                               "intra": {"A100": {"8": [[0, 10, 100], 2e11]}}})";
  std::vector<std::string> notes;
  const Cluster c = machine_of("coefficients.json", text, notes, "A100");
  EXPECT_EQ(c.levels[0].bytes_per_second, 2e11);
  EXPECT_DOUBLE_EQ(c.levels[0].efficiency.at(1e6), 0.5);
  // Nothing was measured of less.
  EXPECT_DOUBLE_EQ(c.levels[0].efficiency.at(1e3), 0.5);
  EXPECT_THAT(message_of("c.json", R"({"inter": {"A": {"1": [[0, 0, -1], 1e9]}}, "intra": {}})"), HasSubstr("no bandwidth over 0"));
  EXPECT_EQ(c.levels[1].bytes_per_second, 4e9);
  EXPECT_EQ(c.levels[1].shared_bytes_per_second, 6e9);
  EXPECT_DOUBLE_EQ(c.levels[1].efficiency.at(4e6), 0.75);
  EXPECT_THAT(message_of("c.json", text), HasSubstr("several devices are in it; it has A100, V100: --device chooses one"));
  EXPECT_THAT(message_of("c.json", text, "H100"), HasSubstr("no device 'H100'"));
  EXPECT_THAT(message_of("c.json", R"({"inter": {"A": {"1": [[0, 1], 1]}}, "intra": {}})"), HasSubstr("three coefficients"));
}

TEST(Tables, OthersAreRejected) {
  EXPECT_THAT(message_of("x.json", "{}"),
              HasSubstr("x.json: it is of no format that is known: aiconfigurator (its op tables as CSV), galvatron"));
  EXPECT_THAT(message_of("x.csv", "a,b\n1,2\n"), HasSubstr("of no format that is known"));
  EXPECT_THAT(message_of("x.bin", std::string("\0\1\2", 3)), HasSubstr("of no format that is known"));
}

}  // namespace
}  // namespace pando::simulate
