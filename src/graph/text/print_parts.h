// Words of the graph level's text (docs/level/graph.md).
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace pando::graph {

std::string quoted(std::string_view text);                      // 'it\'s'
std::string text_of(const Graph& graph, const View& view);      // v0[0,8) v1[3] as {3,3}
std::string text_of_row(const Graph& graph, const View& view);  // without a shape
std::string text_of_values(std::string_view bytes, ElementType type);
std::string text_of(const TileMap& map, std::uint64_t elements);
void print_program(const Graph& graph, const ProgramPtr& program, unsigned indent, std::string& out);

}  // namespace pando::graph
