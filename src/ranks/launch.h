// Starts the ranks of a run on this host through mpirun, and says which one died and what it was doing.
#pragma once

#include <string>
#include <vector>

namespace pando::ranks {

// `command`: a program and its arguments, which each rank runs. Returns 0 where all ranks end well, else the status of mpirun, with a line
// on standard error that names the rank, step and last operation of who died first. Throws no_environment where there is no mpirun. A
// signal that asks this process to end (SIGTERM, SIGINT, SIGHUP) ends the ranks within seconds, then this process; they end with it, too,
// where it is killed. `timeout`: how many seconds ranks have to come; 0: as long as they like. Neither processes nor files stay behind, and
// nothing of the run listens to other hosts.
int launch(unsigned ranks, const std::vector<std::string>& command, double timeout);

}  // namespace pando::ranks
