// Runs the steps of a distributed MLP on threads of this host, one for each device, with the project's kernels: what predictions are
// compared with.
// A step's time is made of each thread's processor time between meetings, the longest thread's of each part: other programs on the host do
// not
// count, nor does waiting for a processor.
#pragma once

#include "kernels/gemm.h"
#include "simulate/program.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace pando::bench {

class HostMlp {
 public:
  explicit HostMlp(const simulate::Program& program) : p_(program), body_(program.bodies.front()), data_(body_.slots.size()) {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i].assign(static_cast<std::size_t>(body_.slots[i].bytes) / 4 + 1, 0.01f);
    for (std::size_t l = 0; l < p_.labels(); ++l) kinds_.push_back(kind_of(p_.label(static_cast<std::uint32_t>(l))));
    for (const simulate::Step& s : body_.steps) known_ &= kinds_[s.label] != Kind::unknown;
  }
  // Whether it can run all steps.
  bool known() const { return known_; }

  // The quickest of several steps.
  double seconds(double budget) {
    double best = 1e30;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3 || std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < budget; ++i) {
      best = std::min(best, step());
    }
    return best;
  }

 private:
  enum class Kind { unknown, product, gradients, relu, relu_gradient, binary, update, copy, all_reduce };

  static Kind kind_of(const std::string& name) {
    if (name == "matmul") return Kind::product;
    if (name == "matmul_grad") return Kind::gradients;
    if (name == "relu") return Kind::relu;
    if (name == "relu_grad") return Kind::relu_gradient;
    if (name == "add" || name == "squared_loss" || name == "squared_loss_grad") return Kind::binary;
    if (name == "sgd") return Kind::update;
    if (name == "identity" || name == "concat") return Kind::copy;
    if (name == "all_reduce_across") return Kind::all_reduce;
    return Kind::unknown;
  }

  double step() {
    std::vector<std::thread> others;
    arrived_ = 0;
    const auto devices = static_cast<std::uint32_t>(body_.devices.size());
    parts_.assign(devices, {});
    const auto work = [&](std::uint32_t d) {
      unsigned round = 0;
      meet(round, devices);
      run(d, round);
    };
    for (std::uint32_t d = 1; d < devices; ++d) others.emplace_back(work, d);
    work(0);
    for (std::thread& t : others) t.join();
    double sum = 0;
    for (std::size_t i = 0; i < parts_[0].size(); ++i) {
      double longest = 0;
      for (const auto& p : parts_) longest = std::max(longest, p[i]);
      sum += longest;
    }
    return sum;
  }

  static double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  void meet(unsigned& round, unsigned devices) {
    ++round;
    arrived_.fetch_add(1);
    while (arrived_.load() < devices * round) std::this_thread::yield();
  }

  void run(std::uint32_t device, unsigned& round) {
    double begin = processor_seconds();
    const auto meet_others = [&] {
      parts_[device].push_back(processor_seconds() - begin);
      meet(round, static_cast<unsigned>(body_.devices.size()));
      begin = processor_seconds();
    };
    for (const simulate::Step& s : body_.steps) {
      const auto on = body_.devices_of(s);
      if (std::find(on.begin(), on.end(), device) == on.end()) continue;
      const auto in = body_.operands_of(s), out = body_.results_of(s);
      if (kinds_[s.label] == Kind::all_reduce) {
        meet_others();
        for (std::size_t i = 0; i < out.size(); ++i) {
          if (body_.slots[out[i]].device == device) sum(in, data_[out[i]]);
        }
        meet_others();
        continue;
      }
      compute(kinds_[s.label], in, out);
    }
    parts_[device].push_back(processor_seconds() - begin);
  }

  void sum(std::span<const simulate::SlotId> in, std::vector<float>& out) {
    const float *x = data_[in[0]].data(), *y = data_[in[1]].data();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i] + y[i];
  }

  double count(simulate::SlotId s) const { return static_cast<double>(body_.slots[s].bytes) / 4; }

  // (m, k) times (k, n), from the sizes of the three.
  void compute(Kind kind, std::span<const simulate::SlotId> in, std::span<const simulate::SlotId> out) {
    float* z = data_[out[0]].data();
    const float *x = data_[in[0]].data(), *y = in.size() > 1 ? data_[in[1]].data() : nullptr;
    const std::size_t n = data_[out[0]].size();
    switch (kind) {
      case Kind::product: product(count(in[0]), count(in[1]), count(out[0]), x, y, z); break;
      case Kind::gradients: gradients(in, out); break;
      case Kind::relu:
        for (std::size_t i = 0; i < n; ++i) z[i] = x[i] > 0 ? x[i] : 0;
        break;
      case Kind::relu_gradient:
        for (std::size_t i = 0; i < n; ++i) z[i] = x[i] > 0 ? y[i] : 0;
        break;
      case Kind::binary:
        for (std::size_t i = 0; i < n; ++i) z[i] = (x[i] - y[i]) * 1e-3f;
        break;
      case Kind::update:
        for (std::size_t w = 0; w < out.size(); ++w) {
          float* weight = data_[in[w]].data();
          const float* gradient = data_[in[out.size() + w]].data();
          for (std::size_t i = 0; i < data_[in[w]].size(); ++i) weight[i] -= 1e-9f * gradient[i];
        }
        break;
      default: std::copy_n(x, std::min(n, data_[in[0]].size()), z); break;
    }
  }

  static void product(double x, double y, double z, const float* a, const float* b, float* c) {
    const auto m = static_cast<unsigned>(std::lround(std::sqrt(x * z / y))), k = static_cast<unsigned>(std::lround(std::sqrt(x * y / z))),
               n = static_cast<unsigned>(std::lround(std::sqrt(y * z / x)));
    pando_gemm_packed(m, n, k, {a, k, 1, false}, {b, n, 1, false}, c, n, 1, false);
  }

  void gradients(std::span<const simulate::SlotId> in, std::span<const simulate::SlotId> out) {
    const double x = count(in[0]), y = count(in[1]), z = count(in[2]);
    const auto m = static_cast<unsigned>(std::lround(std::sqrt(x * z / y))), k = static_cast<unsigned>(std::lround(std::sqrt(x * y / z))),
               n = static_cast<unsigned>(std::lround(std::sqrt(y * z / x)));
    const float *a = data_[in[0]].data(), *b = data_[in[1]].data(), *dz = data_[in[2]].data();
    pando_gemm_packed(m, k, n, {dz, n, 1, false}, {b, 1, n, false}, data_[out[0]].data(), k, 1, false);
    pando_gemm_packed(k, n, m, {a, 1, k, false}, {dz, n, 1, false}, data_[out[1]].data(), n, 1, false);
  }

  const simulate::Program& p_;
  const simulate::Body& body_;
  std::vector<std::vector<float>> data_;
  std::vector<Kind> kinds_;
  // Of each device, between meetings.
  std::vector<std::vector<double>> parts_;
  bool known_ = true;
  std::atomic<unsigned> arrived_{0};
};

}  // namespace pando::bench
