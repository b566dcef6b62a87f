// Machines as JSON files: what `pando calibrate` writes and users edit.
#pragma once

#include "simulate/cluster.h"

#include <string>
#include <string_view>

namespace pando::simulate {

std::string to_json(const Cluster& c);
// Rejects (poplar_error, id cluster-file) what is no such text: the message names the member, also one that is not known and one that is
// missing though no machine is without it. Others may be left out: to_json writes all.
Cluster cluster_from_json(std::string_view text, const std::string& file);
// A row's name, IPUs ("ipu2", "ipu2:64" with 64 tiles each), or a file (anything that ends in .json).
Cluster cluster_of(const std::string& name_or_file);

}  // namespace pando::simulate
