// Wakes threads that wait for packets. MPI can only be asked, and ranks that ask often take time from those that compute: who has posted a
// packet rings the receiver's bell, a socket that has the rank in its name. Where a rank cannot be rung (it is on another machine), it has
// to ask.
#pragma once

#include <chrono>
#include <cstdint>

namespace pando::exec {

class Bell {
 public:
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // The bell of a rank of a job, which `ring(rank)` rings on the job's other bells. Without it, ring() alone is heard.
  void hang(std::uint64_t job, unsigned rank);
  // This bell. From any thread.
  void ring() const;
  // The bell of a rank. False: there is none on this machine.
  bool ring(unsigned rank) const;
  // Until somebody rings, or has rung since the last wait; at most so long.
  void wait(std::chrono::microseconds most) const;

 private:
  int here_ = -1, socket_ = -1;
  std::uint64_t job_ = 0;
};

}  // namespace pando::exec
