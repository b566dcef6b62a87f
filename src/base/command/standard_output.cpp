// Every tool is linked with this file: what it has printed has arrived when it ends with status 0. A program that does not look learns of a
// full disk from nobody: the last of its output is written when it ends, where nothing else can see that it was not.
#include "base/command/standard_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kNotWritten = 2;

// "pando repl", as it is called, of the program pando-repl.
std::string tool() {
  std::string name = program_invocation_short_name;
  std::replace(name.begin(), name.end(), '-', ' ');
  return name;
}

// What failed before the end is known to have failed, but not why: the system often says it again. 0: it does not.
int error_of_an_empty_write() { return write(STDOUT_FILENO, "", 0) < 0 ? errno : 0; }

void end_output() {
  const bool failed = std::ferror(stdout) != 0, unwritten = std::fflush(stdout) != 0;
  if (!failed && !unwritten) return;
  const int error = unwritten ? errno : error_of_an_empty_write();
  if (pando::standard_output_has_no_reader(error)) return;
  const std::string why = error != 0 ? std::string(": ") + std::strerror(error) : "";
  std::fprintf(stderr, "%s: cannot write to standard output%s\n", tool().c_str(), why.c_str());
  _exit(kNotWritten);
}

// The first file that is opened would get the number of a stream that is closed, and what is meant for the stream would go into that file.
// So the number is taken, for the direction that nobody uses: reading and writing fail as they do when it is closed.
void take_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

const bool is_watched = [] {
  take_closed_streams();
  return std::atexit(end_output) == 0;
}();

}  // namespace

bool pando::standard_output_has_no_reader(int error) {
  if (error == EPIPE) return true;
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}
