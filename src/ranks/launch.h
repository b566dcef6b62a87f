// Starts the ranks of a run on this host through mpirun, and says which one died and what it was doing.
#pragma once

#include <string>
#include <vector>

namespace pando::ranks {

// How a launcher speaks, and what it adds to mpirun's command line.
struct Launcher {
  std::string name = "pando run", member = "rank";
  // What a member that died was doing, behind a colon; without: nothing is said of it.
  bool knows_steps = true;
  // Where members run and what they are bound to.
  std::vector<std::string> placing{"--oversubscribe", "--bind-to", "none"};
  std::vector<std::string> options;
  // All are on this host, and nothing listens to others.
  bool one_host = true;
};

// `command`: a program and its arguments, which each rank runs. Returns 0 where all ranks end well, else the status of mpirun, with a line
// on standard error that names the rank, step and last operation of who died first. Throws no_environment where there is no mpirun. A
// signal that asks this process to end (SIGTERM, SIGINT, SIGHUP) ends the ranks within seconds, then this process; they end with it, too,
// where it is killed. `timeout`: how many seconds ranks have to come; 0: as long as they like. Neither processes nor files stay behind, and
// nothing of the run listens to other hosts (but where the launcher says that there are some).
int launch(unsigned ranks, const std::vector<std::string>& command, double timeout, const Launcher& launcher = {});

}  // namespace pando::ranks
