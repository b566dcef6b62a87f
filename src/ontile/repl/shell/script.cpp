#include "ontile/repl/shell/script.h"

#include <algorithm>
#include <map>

namespace pando::ontile {
namespace {

// One half of what tiles said: together again where the halves are equal.
std::vector<Group> regroup(const std::vector<Group>& groups, std::string (*half)(const Group&)) {
  std::map<std::string, std::vector<unsigned>> tiles;
  for (const Group& group : groups) {
    auto& mine = tiles[half(group)];
    mine.insert(mine.end(), group.tiles.begin(), group.tiles.end());
  }
  std::vector<Group> merged;
  for (auto& [text, mine] : tiles) {
    std::sort(mine.begin(), mine.end());
    merged.push_back({text, Ending::done, 0, std::move(mine)});
  }
  std::sort(merged.begin(), merged.end(), [](const Group& a, const Group& b) {
    return a.tiles.size() != b.tiles.size() ? a.tiles.size() > b.tiles.size() : a.tiles[0] < b.tiles[0];
  });
  return merged;
}

void print(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

int status_of(const Outcome& outcome) {
  int status = outcome.wrong ? 1 : 0;
  for (const Group& group : outcome.groups) {
    if (group.ending == Ending::exited)
      status = std::max(status, group.status);
    else if (group.ending != Ending::done)
      status = std::max(status, 1);
  }
  return status;
}

int run_script(Shell& shell, Interrupts& interrupts, std::string_view source, Session::Input input, std::string_view name, std::FILE* out,
               std::FILE* err) {
  if (interrupts.take()) return kInterruptedStatus;
  int status = 0;
  shell.execute(
      source, input,
      [&](const Outcome& outcome) {
        print(out, render(regroup(outcome.groups, [](const Group& group) { return group.text.substr(0, complaint_begin(group)); }),
                          shell.style()));
        print(err,
              render(regroup(outcome.groups, [](const Group& group) { return group.text.substr(complaint_begin(group)); }), shell.style()));
        print(outcome.wrong || outcome.ran ? err : out, outcome.message);
        status = std::max(status, status_of(outcome));
      },
      name);
  return interrupts.take() ? kInterruptedStatus : status;
}

}  // namespace pando::ontile
