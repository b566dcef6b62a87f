// Ranks of one host need no network: they and mpirun get one of their own, in which there is nothing but them.
#pragma once

namespace pando::ranks {

// In a child that has just been forked: from now on this process and those that it starts are in a network name space of their own, with
// the loopback address alone. What they listen on cannot be reached from outside. False: the system gives none.
bool leave_network();

}  // namespace pando::ranks
