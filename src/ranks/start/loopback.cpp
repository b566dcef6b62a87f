#include "ranks/start/loopback.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace pando::ranks {

namespace {

bool write_text(const char* file, const char* text) {
  const int fd = open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
  close(fd);
  return written;
}

// The same user and group as outside.
bool map_user(uid_t user, gid_t group) {
  std::array<char, 64> text;
  write_text("/proc/self/setgroups", "deny");
  std::snprintf(text.data(), text.size(), "%u %u 1", user, user);
  if (!write_text("/proc/self/uid_map", text.data())) return false;
  std::snprintf(text.data(), text.size(), "%u %u 1", group, group);
  return write_text("/proc/self/gid_map", text.data());
}

bool raise_loopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  bool up = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags |= IFF_UP;
  up = up && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return up;
}

// Whether this process may make name spaces is tried in another one: half of a change would be worse than none.
bool change() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNET) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 || !map_user(user, group)) return false;
  }
  return raise_loopback();
}

}  // namespace

bool leave_network() {
  const pid_t trial = fork();
  if (trial == 0) _exit(change() ? 0 : 1);
  int status = 1;
  if (trial < 0 || waitpid(trial, &status, 0) != trial || status != 0) return false;
  return change();
}

}  // namespace pando::ranks
