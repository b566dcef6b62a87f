// What the command line of poprun says.
#pragma once

#include <string>
#include <vector>

namespace pando::ranks {

struct PoprunOptions {
  unsigned instances = 1, replicas = 1, ipus_per_replica = 1;
  // Names; empty: this one.
  std::vector<std::string> hosts;
  // Words for mpirun, as the user gave them.
  std::vector<std::string> mpi;
  std::string executable_cache;
  bool numa_aware = false, print_topology = false, tag_output = true;
  // -1: all.
  int only_output_from = -1;
  double timeout = 600;
  int verbose = 0;
  // Options that were given and have no effect.
  std::vector<std::string> idle;
  // The program and its arguments.
  std::vector<std::string> command;

  unsigned local_replicas() const { return replicas / instances; }
};

// Words as a shell splits them: quotes and backslashes keep blanks. Rejects (invalid_option) a quote without end.
std::vector<std::string> words_of(const std::string& text);
// "host1,host[2-4,6]" as host1, host2, host3, host4, host6. Rejects (invalid_option) brackets that are none.
std::vector<std::string> hosts_of(const std::string& text);
// Whether all hosts are this one.
bool all_here(const std::vector<std::string>& hosts);
// Of words for mpirun, those that choose a network's interface, which on one host there is none of: they go from `words`, and are returned.
std::vector<std::string> take_interfaces(std::vector<std::string>& words);

// "| hosts | ... |": which replicas are of which instance, and where.
std::string topology_of(const PoprunOptions& options);

}  // namespace pando::ranks
