// What crosses ranks. A rank is one process of a distributed run (or, in tests, one part of a process); it holds some devices. Everything
// that one rank tells another one is a packet; bounded channels, the comparison of programs and the gathering of results are made of them.
//
// In one process: in_process.h. As MPI ranks: mpi.h, which loads libpando_mpi.so when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace pando::exec {

struct Packet {
  enum class Kind : std::uint8_t {
    data,     // a message of a channel
    credit,   // how many messages of a channel the receiver has taken
    probe,    // who waits for whom (channels.h)
    failed,   // the run cannot go on; the text says why
    hello,    // what a rank is about to run
    verdict,  // rank 0's answer
    ready,    // a rank has compiled
    result,   // a tensor for rank 0
    ended,    // a rank has sent all its results
    profile,  // what a device did in a step
  };
  Kind kind = Kind::data;
  // The rank that posted it; the transport says it.
  std::uint32_t from = 0;
  std::uint32_t channel = 0;
  std::uint64_t count = 0;
  // With kRoom bytes of capacity more than it has, a transport that adds something need not copy it.
  std::string bytes;
  static constexpr std::size_t kRoom = 2048;
};

class Transport {
 public:
  // Called for each packet that arrives, one at a time, on a thread of the transport.
  using Receiver = std::function<void(Packet)>;

  virtual ~Transport() = default;
  virtual unsigned rank() const = 0;
  virtual unsigned ranks() const = 0;
  // From now on packets are handed over; those that came before wait until then. An empty receiver: none is any more, when this returns.
  virtual void start(Receiver receiver) = 0;
  // From any thread; does not wait. What one rank posts to another one arrives in order.
  virtual void post(unsigned to, Packet packet) = 0;
  // Some thread begins (or has ended) to wait for a packet. A transport that has to look for packets looks more often while somebody waits.
  virtual void expect(bool) {}
  // Returns when all that was posted has left and every rank has come here. False: the others did not come in `seconds`.
  virtual bool finish(double seconds) = 0;
  // Ends all ranks, now.
  [[noreturn]] virtual void abort(int status) = 0;
};

}  // namespace pando::exec
