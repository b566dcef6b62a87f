#include "exec/transports/mpi/bell.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace pando::exec {

namespace {

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

// In Linux' abstract namespace: no file, gone with its process.
Address address_of(std::uint64_t job, unsigned rank) {
  Address a;
  a.name.sun_family = AF_UNIX;
  const int n =
      std::snprintf(a.name.sun_path + 1, sizeof a.name.sun_path - 1, "pando-%016llx-%u", static_cast<unsigned long long>(job), rank);
  a.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path)) + 1 + static_cast<socklen_t>(n);
  return a;
}

}  // namespace

Bell::Bell() : here_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Bell::~Bell() {
  if (here_ >= 0) close(here_);
  if (socket_ >= 0) close(socket_);
}

void Bell::hang(std::uint64_t job, unsigned rank) {
  job_ = job;
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const Address a = address_of(job, rank);
  if (socket_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&a.name), a.size) == 0) return;
  close(socket_);
  socket_ = -1;
}

void Bell::ring() const {
  eventfd_write(here_, 1);  // fails only when it rings already
}

bool Bell::ring(unsigned rank) const {
  if (socket_ < 0) return false;
  const Address a = address_of(job_, rank);
  const char one = 1;
  // Where no more rings fit, there are some that have not been heard.
  return sendto(socket_, &one, 1, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&a.name), a.size) == 1 || errno == EAGAIN;
}

void Bell::wait(std::chrono::microseconds most) const {
  pollfd bells[2] = {{here_, POLLIN, 0}, {socket_, POLLIN, 0}};  // a negative one is left out
  const timespec time{most.count() / 1000000, most.count() % 1000000 * 1000};
  if (ppoll(bells, 2, &time, nullptr) <= 0) return;
  eventfd_t rings = 0;
  if (bells[0].revents != 0) eventfd_read(here_, &rings);
  char byte = 0;
  if (bells[1].revents == 0) return;
  while (recv(socket_, &byte, 1, 0) > 0) {}
}

}  // namespace pando::exec
