#include "native/interruptible.h"

#include "base/process/stop.h"
#include "native/native.h"

#include <unistd.h>
#include <pando/host.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pando::python {

namespace {

// A thread that does one piece of work after the other.
class Helper {
 public:
  Helper() : thread_([this] { loop(); }) { thread_.detach(); }

  void begin(const std::function<void()>& work) {
    const std::lock_guard lock(mutex_);
    done_ = false;
    work_ = &work;
    changed_.notify_all();
  }
  // Whether the work has ended within that time.
  bool wait(std::chrono::milliseconds at_most) {
    // Small programs take microseconds, less than a thread needs to sleep and to wake.
    constexpr auto kSpins = std::chrono::microseconds(30);
    for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < kSpins;)
      if (done_.load()) return true;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [this] { return done_.load(); });
  }
  // What the work has thrown.
  std::exception_ptr take_error() { return std::exchange(error_, nullptr); }

 private:
  void loop() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      const std::function<void()>& work = *std::exchange(work_, nullptr);
      lock.unlock();
      try {
        work();
      } catch (...) { error_ = std::current_exception(); }
      lock.lock();
      done_ = true;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::atomic<bool> done_{false};
  std::exception_ptr error_;
  std::thread thread_;
};

// Those of this process that have nothing to do; a handler of signals may call what calls this, so there can be several. They are never
// destroyed: a thread may end with the process alone.
std::vector<Helper*>& idle_helpers() {
  static auto* helpers = new std::vector<Helper*>();
  static pid_t process = getpid();
  if (process != getpid()) {  // a child has no threads of its parent
    helpers = new std::vector<Helper*>();
    process = getpid();
  }
  return *helpers;
}

bool is_main_thread() {
  static const auto main = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  return PyThread_get_thread_ident() == main;
}

constexpr std::chrono::milliseconds kLook{50};

void work_and_look(Helper& helper, const std::function<void()>& work, const std::function<void()>& stop) {
  const auto wait = [&] {
    nb::gil_scoped_release released;
    return helper.wait(kLook);
  };
  helper.begin(work);
  while (!wait()) {
    if (PyErr_CheckSignals() == 0) continue;
    const nb::python_error raised;  // takes it
    {
      nb::gil_scoped_release released;
      do stop();
      while (!helper.wait(kLook));  // it may not have begun when it was stopped
    }
    helper.take_error();
    throw nb::python_error(raised);
  }
}

}  // namespace

void interruptibly(const std::function<void()>& work, const std::function<void()>& stop) {
  if (!is_main_thread()) {
    nb::gil_scoped_release released;
    return work();
  }
  std::vector<Helper*>& idle = idle_helpers();
  Helper* const helper = idle.empty() ? new Helper() : idle.back();
  if (!idle.empty()) idle.pop_back();
  try {
    work_and_look(*helper, work, stop);
  } catch (...) {
    idle_helpers().push_back(helper);
    throw;
  }
  const std::exception_ptr error = helper->take_error();
  idle_helpers().push_back(helper);
  if (error) std::rethrow_exception(error);
}

void interruptibly(const std::function<void()>& work) {
  std::atomic<bool> stopped = false;
  // This library and libpoplar each look at a flag of their own.
  interruptibly(
      [&] {
        struct Poplar {
          explicit Poplar(const std::atomic<bool>* flag) { stop_compiling_when(flag); }
          ~Poplar() { stop_compiling_when(nullptr); }
        };
        const StopScope scope(&stopped);
        const Poplar poplar(&stopped);
        work();
      },
      [&] { stopped = true; });
}

}  // namespace pando::python
