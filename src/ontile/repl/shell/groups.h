// Thousands of answers as people can read them: equal ones together with how many tiles gave them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ontile/session.h"

namespace pando::ontile {

struct Group {
  std::string text;
  Ending ending = Ending::done;
  int status = 0;
  std::vector<unsigned> tiles;  // sorted
};

// Answers with the same text and ending together, most frequent first; of equally frequent ones the one with the lowest tile.
std::vector<Group> group(const Reply& reply);

struct Style {
  bool colours = false;
  bool fold = false;  // as at a prompt: many groups and long ones are shown in part
  std::size_t max_groups = 12;
  std::size_t head = 20, tail = 5;  // lines of a long group
};

// What a person sees of them. One group of all tiles is printed as it is; else each has a ruler, "---------- [736x] ----------", and after
// it the tiles if they are few. Silent groups are left out; so are tiles that were not there to answer.
std::string render(const std::vector<Group>& groups, const Style& style);

// Where in the text of a group that went wrong the traceback, or why the interpreter ended, begins; the size of the text if all went well.
std::size_t complaint_begin(const Group& group);

// The lines of one text, in part if it is long. Ends with a line end if there is anything.
std::string fold(std::string_view text, const Style& style);

}  // namespace pando::ontile
