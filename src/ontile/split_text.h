// Cutting a text into one piece for each tile.
#pragma once

#include <string_view>
#include <vector>

#include "ontile/session.h"

namespace pando::ontile {

// `pieces` pieces that make up the text, in order. Cut::bytes: sizes differ by at most one. Cut::lines: whole lines; each piece ends at the
// line end that is nearest to where it would end by bytes. Pieces may be empty.
std::vector<std::string_view> split_text(std::string_view text, unsigned pieces, Cut where);

}  // namespace pando::ontile
