#include "ontile/repl/shell/collective_help.h"

#include <fmt/format.h>

namespace pando::ontile {

namespace {

struct Help {
  std::string_view name, call, text;
};

constexpr Help kCollectives[] = {
    {"alltoall", "alltoall(x)", "The list of every tile's x, in tile order, on every tile. The same as allgather(x)."},
    {"allgather", "allgather(x)", "The list of every tile's x, in tile order, on every tile."},
    {"broadcast", "broadcast(x, root=0)", "The x of tile root, on every tile. The others' x are not looked at."},
    {"reduce", "reduce(x, op=None, root=0)",
     "On tile root: every tile's x combined in tile order by op(a, b), by + without op. None on the other tiles."},
    {"allreduce", "allreduce(x, op=None)", "Every tile's x combined in tile order by op(a, b), by + without op. The same on every tile."},
    {"barrier", "barrier()", "Returns when every tile has called it."},
    {"send", "send(x, tile)", "Sends x to a tile, which takes it with recv(). It does not wait: x is copied as it is now."},
    {"recv", "recv(tile=None)", "Waits for what a tile sends, and returns it. Without a tile: from any, as (tile, x)."},
};

}  // namespace

std::string collective_help(std::string_view name) {
  for (const Help& h : kCollectives)
    if (name == h.name || (name.starts_with("tile.") && name.substr(5) == h.name))
      return fmt::format(
          "{}\n    {}\n    Every tile that the command goes to has to take part; numbers, texts, bytes, tuples, lists, dicts, sets and "
          "arrays go over.\n",
          h.call, h.text);
  return {};
}

std::string prompt_help() {
  std::string calls;
  for (const Help& h : kCollectives) calls += fmt::format("  {:<28}{}\n", h.call, h.text);
  return "What you enter runs on every tile, in MicroPython; equal answers are shown once.\n"
         "\n"
         "On each tile:\n"
         "  __tileid, __ipuid           its number, and its IPU's\n"
         "  __ntiles                    how many tiles run Python\n"
         "  __tiledata                  its share of --data FILE\n"
         "\n"
         "Between tiles:\n" +
         calls +
         "\n"
         "%help lists the commands of the prompt. name? and help(name) say what the tiles know of a name; help('modules') lists the "
         "modules.\n";
}

}  // namespace pando::ontile
