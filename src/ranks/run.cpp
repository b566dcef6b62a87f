#include "ranks/run.h"

#include "base/archive.h"
#include "exec/transports/channels.h"
#include "ir/error.h"
#include "ranks/build_hash.h"
#include "ranks/device_run.h"
#include "ranks/mail.h"
#include "ranks/timeline/plan_of_run.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <thread>
#include <utility>

namespace pando::ranks {

using namespace ir;
using exec::Packet;

template <class A>
static void fields(A& a, DeviceTimes& t) {
  a(t.device, t.rank, t.run, t.waited, t.quickest, t.sent, t.received, t.bytes_sent);
}

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A tensor, or blocks of a stream, on its way to rank 0.
struct Sent {
  std::uint64_t place = 0;  // of the device
  std::string name;
  bool is_output = false;
  std::uint32_t dtype = 0;
  Shape shape;
  std::vector<std::int64_t> numbers;
  std::string bytes;
};
template <class A>
void fields(A& a, Sent& s) {
  a(s.place, s.name, s.is_output, s.dtype, s.shape, s.numbers, s.bytes);
}
// What changes the compiled programs, and how often they run.
std::string options_text(const Options& o) { return fmt::format("{} {} {} {}", o.steps, o.device, o.machine, o.tiles_per_ipu); }

template <class T>
std::string packed(const T& value) {
  ArchiveWriter w;
  w(value);
  return w.bytes();
}
template <class T>
T unpacked(const std::string& bytes) {
  T value;
  ArchiveReader r(bytes);
  r(value);
  return value;
}

// What must be the same on all ranks: then what they compile fits together.
struct Identity {
  std::uint64_t program = 0, build = 0;
};
template <class A>
void fields(A& a, Identity& i) {
  a(i.program, i.build);
}

void reject_differences(std::string& trouble, std::vector<unsigned> ranks, std::string_view what) {
  if (ranks.empty()) return;
  std::sort(ranks.begin(), ranks.end());
  trouble += fmt::format("{}rank {} {}", trouble.empty() ? "" : "; ", fmt::join(ranks, ", "), what);
}

// Rank 0 hears what all are about to run, and lets them, or not.
void agree(Mail& mail, const Identity& mine) {
  mail.post(0, Packet::Kind::hello, '\0' + packed(mine));
  if (mail.transport().rank() == 0) {
    std::vector<unsigned> of_program, of_build;
    std::string trouble;
    for (unsigned i = 0; i < mail.transport().ranks(); ++i) {
      const Packet p = mail.wait(Packet::Kind::hello, "all ranks to say what they run");
      if (p.bytes.starts_with('\x01')) {
        trouble += fmt::format("{}rank {}: {}", trouble.empty() ? "" : "; ", p.from, p.bytes.substr(1));
        continue;
      }
      const auto other = unpacked<Identity>(p.bytes.substr(1));
      if (other.program != mine.program) of_program.push_back(p.from);
      if (other.build != mine.build) of_build.push_back(p.from);
    }
    if (trouble.empty()) {
      reject_differences(trouble, of_program, "would run another program than rank 0: give all ranks the same program, options and data");
      reject_differences(trouble, of_build, "is of another build than rank 0: its libraries or codelets differ");
    }
    mail.post_all(Packet::Kind::verdict, trouble);
  }
  const std::string verdict = mail.wait(Packet::Kind::verdict, "rank 0 to compare what the ranks run").bytes;
  if (verdict.empty()) return;
  if (mail.transport().rank() != 0) throw exec::RunFailed(verdict);
  throw_model_error(ErrorClass::value, "ranks-differ", verdict);
}

class RankRun {
 public:
  RankRun(Program program, const Data& data, Mail& mail, const Options& options, Board& board)
      : data_(data),
        mail_(mail),
        options_(options),
        board_(board),
        rank_(mail.transport().rank()),
        parts_(program.parts.size()),
        channels_(placed(program), mail.transport(), waits(options), [this](const std::string&) {
          failed_ = true;
          mail_.wake();
          for (auto& d : devices_) d->stop();
        }) {
    const unsigned ranks = mail.transport().ranks();
    if (rank_ == 0 && profiles()) facts_ = facts_of(program);
    for (std::size_t p = 0; p < program.parts.size(); ++p) {
      if (rank_of(p, program.parts.size(), ranks) != rank_) continue;
      board_.set_device(p, rank_, program.parts[p].device);
      places_.push_back(p);
      devices_.push_back(std::make_unique<DeviceRun>(std::move(program.parts[p]), p, parts_, channels_, board_));
    }
    mail_.set_channels(&channels_);
  }
  ~RankRun() { mail_.set_channels(nullptr); }

  Result run() {
    for (auto& d : devices_) guarded(*d, [&] { d->prepare(data_, options_); });
    compare_executables();
    const auto begin = std::chrono::steady_clock::now();
    run_devices();
    const double seconds = seconds_since(begin);
    send_results();
    Result r;
    if (rank_ == 0) r = gather();
    r.seconds = seconds;
    for (const DeviceTimes& t : r.times) r.seconds = std::max(r.seconds, t.run);
    r.executables = std::move(executables_);
    return r;
  }

 private:
  // One report of all devices, besides that of each.
  bool profiles() const { return parts_ > 1 && !options_.profile.empty(); }
  static exec::Channels::Options waits(const Options& o) {
    exec::Channels::Options w;
    w.give_up = std::chrono::milliseconds(static_cast<std::int64_t>(o.timeout * 1000));
    return w;
  }
  std::vector<exec::Channel> placed(const Program& p) const {
    std::vector<exec::Channel> channels = p.channels;
    const auto rank_of_device = [&](std::int32_t device) {
      const auto it = std::find_if(p.parts.begin(), p.parts.end(), [&](const Part& part) { return part.device == device; });
      return rank_of(static_cast<std::size_t>(it - p.parts.begin()), p.parts.size(), mail_.transport().ranks());
    };
    for (exec::Channel& c : channels) {
      c.from_rank = rank_of_device(c.from);
      c.to_rank = rank_of_device(c.to);
    }
    return channels;
  }

  // Tells the other ranks what went wrong here, with where.
  template <class F>
  void guarded(DeviceRun& d, F f) {
    try {
      f();
    } catch (const exec::RunFailed&) { throw; } catch (const std::exception& e) {
      if (failed_) throw exec::RunFailed(channels_.failure());
      channels_.fail(fmt::format("rank {}, {}: {}", rank_, d.where(), e.what()));
      throw exec::RunFailed(channels_.failure());
    }
  }

  // When all have compiled, all know what will run.
  void compare_executables() {
    std::vector<std::pair<std::int32_t, std::uint64_t>> mine;
    for (const auto& d : devices_) mine.emplace_back(d->device(), d->executable_hash());
    mail_.post_all(Packet::Kind::ready, packed(mine));
    std::string trouble;
    std::map<unsigned, std::vector<std::int32_t>> others;
    for (unsigned i = 0; i < mail_.transport().ranks(); ++i) {
      const Packet p = mail_.wait(Packet::Kind::ready, "all ranks to compile");
      for (const auto& [device, hash] : unpacked<decltype(mine)>(p.bytes)) {
        executables_[device] = hash;
        const auto expected = options_.executables.find(device);
        if (!options_.executables.empty() && (expected == options_.executables.end() || expected->second != hash))
          others[p.from].push_back(device);
      }
    }
    for (auto& [rank, devices] : others) {
      trouble += fmt::format("{}rank {} has compiled another executable for device {} than the one that is wanted",
                             trouble.empty() ? "" : "; ", rank, fmt::join(devices, ", "));
    }
    if (trouble.empty()) return;
    if (rank_ != 0) throw exec::RunFailed(trouble);
    throw_model_error(ErrorClass::value, "executables-differ", trouble);
  }

  void run_devices() {
    std::vector<std::exception_ptr> errors(devices_.size());
    std::vector<std::thread> threads;
    const auto one = [&](std::size_t i) {
      try {
        guarded(*devices_[i], [&] { devices_[i]->run(options_.steps); });
      } catch (...) { errors[i] = std::current_exception(); }
      channels_.ended(devices_[i]->device());
    };
    for (std::size_t i = 1; i < devices_.size(); ++i) threads.emplace_back(one, i);
    if (!devices_.empty()) one(0);
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& e : errors) {
      if (e) std::rethrow_exception(e);
    }
    if (const auto left = channels_.left_over(); !left.empty())
      reject(ErrorClass::runtime, "messages-left", "messages that nobody took: {}", fmt::join(left, ", "));
  }

  void send_results() {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      DeviceRun& d = *devices_[i];
      for (const auto& [name, t] : options_.results ? d.variables() : std::vector<std::pair<std::string, HostTensor>>()) {
        send({places_[i],
              name,
              false,
              static_cast<std::uint32_t>(t.dtype()),
              t.shape(),
              {},
              {reinterpret_cast<const char*>(t.data()), t.size_bytes()}});
      }
      for (DeviceRun::Stored& s : d.stored())
        send({places_[i], s.name, true, static_cast<std::uint32_t>(s.dtype), s.shape, std::move(s.numbers), std::move(s.bytes)});
      if (profiles()) mail_.post(0, Packet::Kind::profile, packed(d.timeline(rank_)));
      const exec::Channels::Traffic t = channels_.traffic(d.device());
      mail_.post(0, Packet::Kind::ended,
                 packed(DeviceTimes{d.device(), rank_, d.seconds(), t.waited, d.quickest(), t.sent, t.received, t.bytes}));
    }
  }
  void send(Sent s) { mail_.post(0, Packet::Kind::result, packed(s)); }

  // Whether a device has come further since this was asked last: of the devices that this host's board shows.
  bool moves() {
    std::string now;
    for (std::size_t p = 0; p < parts_; ++p) now += board_.describe_device(p) + '\n';
    return std::exchange(seen_, now) != now;
  }

  // A rank posts its results before it says that a device has ended: then all are here.
  Result gather() {
    Result r;
    for (std::size_t i = 0; i < parts_; ++i)
      r.times.push_back(unpacked<DeviceTimes>(mail_.wait(Packet::Kind::ended, "all devices to end", [&] { return moves(); }).bytes));
    std::sort(r.times.begin(), r.times.end(), [](const DeviceTimes& a, const DeviceTimes& b) { return a.device < b.device; });
    if (profiles()) r.plan = gather_plan();
    std::vector<Sent> all;
    for (const Packet& p : mail_.take_all(Packet::Kind::result)) all.push_back(unpacked<Sent>(p.bytes));
    std::stable_sort(all.begin(), all.end(), [](const Sent& a, const Sent& b) { return a.place < b.place; });
    for (const Sent& s : all) {
      if (s.is_output) {
        add_blocks(r, s, all);
      } else {
        HostTensor t(static_cast<DType>(s.dtype), s.shape);
        std::memcpy(t.writable(), s.bytes.data(), s.bytes.size());
        r.variables.emplace_back(s.name, std::move(t));
      }
    }
    return r;
  }

  profile::DevicePlan gather_plan() {
    std::vector<DeviceTimeline> timelines;
    for (const Packet& p : mail_.take_all(Packet::Kind::profile)) timelines.push_back(unpacked<DeviceTimeline>(p.bytes));
    std::sort(timelines.begin(), timelines.end(), [](const DeviceTimeline& a, const DeviceTimeline& b) { return a.device < b.device; });
    return plan_of_run(facts_, timelines, options_.device == "cpu" ? "cpu" : options_.machine);
  }

  // Blocks of one stream from all devices that stored to it, once.
  static void add_blocks(Result& r, const Sent& first, const std::vector<Sent>& all) {
    for (const auto& [name, t] : r.outputs) {
      if (name == first.name) return;
    }
    std::int64_t blocks = 0;
    const auto each = [&](auto f) {
      for (const Sent& s : all) {
        if (s.is_output && s.name == first.name) f(s);
      }
    };
    each([&](const Sent& s) {
      for (std::int64_t n : s.numbers) blocks = std::max(blocks, n + 1);
    });
    Shape shape{blocks};
    shape.insert(shape.end(), first.shape.begin(), first.shape.end());
    HostTensor t(static_cast<DType>(first.dtype), shape);
    const std::size_t size = blocks ? t.size_bytes() / static_cast<std::size_t>(blocks) : 0;
    std::byte* const to = t.writable();
    each([&](const Sent& s) {
      for (std::size_t i = 0; i < s.numbers.size(); ++i)
        std::memcpy(to + static_cast<std::size_t>(s.numbers[i]) * size, s.bytes.data() + i * size, size);
    });
    r.outputs.emplace_back(first.name, std::move(t));
  }

  const Data& data_;
  Mail& mail_;
  const Options& options_;
  Board& board_;
  const unsigned rank_;
  const std::size_t parts_;
  std::atomic<bool> failed_{false};
  std::string seen_;
  std::vector<std::size_t> places_;
  std::vector<std::unique_ptr<DeviceRun>> devices_;
  std::map<std::int32_t, std::uint64_t> executables_;
  RunFacts facts_;
  exec::Channels channels_;
};

}  // namespace

std::string report_file(const std::string& profile, std::int32_t device, bool several) {
  if (!several) return profile;
  const std::filesystem::path path(profile);
  return (path.parent_path() / (path.stem().string() + '.' + std::to_string(device) + path.extension().string())).string();
}

Result run(Program program, const Data& data, exec::Transport& transport, const Options& options, Board& board) {
  board.set_rank(transport.rank(), static_cast<std::int32_t>(getpid()), RankState::running);
  Mail mail(transport, options.timeout);
  if (transport.ranks() > program.parts.size()) {
    reject(ErrorClass::value, "too-many-ranks", "{} ranks for a program of {} devices; a rank holds one or more", transport.ranks(),
           program.parts.size());
  }
  agree(mail, {checksum(packed(hash_of(program)) + options_text(options) + '\n' + data.fingerprint()), hash_of_build()});
  return RankRun(std::move(program), data, mail, options, board).run();
}

void reject_run(const std::string& why, exec::Transport& transport, double timeout) {
  Mail mail(transport, timeout);
  mail.post(0, Packet::Kind::hello, "\x01" + why);
  if (transport.rank() != 0) return;
  for (unsigned i = 0; i < transport.ranks(); ++i) mail.wait(Packet::Kind::hello, "all ranks to begin");
  mail.post_all(Packet::Kind::verdict, "rank 0: " + why);
}

double Result::quickest_step() const {
  double seconds = 0;
  for (const DeviceTimes& t : times) seconds = std::max(seconds, t.quickest);
  return seconds;
}

Result join(const Result& result, const transform::PieceTable& pieces) {
  Result joined;
  joined.times = result.times;
  joined.seconds = result.seconds;
  joined.executables = result.executables;
  // As many dimensions as the whole has: 1 where the part has none.
  const auto as_part = [](const HostTensor& t, std::ptrdiff_t at, std::size_t rank) {
    Shape shape = t.shape();
    shape.insert(shape.begin() + at, rank - std::min(rank, shape.size()), 1);
    return t.reshaped(shape);
  };
  const auto put = [&](std::vector<std::pair<std::string, HostTensor>>& to, const std::string& name, const Shape& shape,
                       DType dtype) -> HostTensor& {
    const auto it = std::find_if(to.begin(), to.end(), [&](const auto& p) { return p.first == name; });
    return it != to.end() ? it->second : to.emplace_back(name, HostTensor(dtype, shape)).second;
  };
  for (const auto& [name, t] : result.variables) {
    if (const auto* piece = pieces.variable(name)) {
      const auto& whole = pieces.whole_tensors.at(piece->whole);
      transform::put_part(put(joined.variables, piece->whole, whole.shape, whole.dtype), as_part(t, 0, whole.shape.size()), piece->start);
    } else {
      joined.variables.emplace_back(name, t);
    }
  }
  for (const auto& [name, t] : result.outputs) {
    if (const auto* piece = pieces.output(name)) {
      const auto& whole = pieces.whole_tensors.at(piece->whole);
      Shape shape{t.shape()[0]}, start{0};
      shape.insert(shape.end(), whole.shape.begin(), whole.shape.end());
      start.insert(start.end(), piece->start.begin(), piece->start.end());
      transform::put_part(put(joined.outputs, piece->whole, shape, whole.dtype), as_part(t, 1, shape.size()), start);
    } else {
      joined.outputs.emplace_back(name, t);
    }
  }
  return joined;
}

}  // namespace pando::ranks
