// What arguments of a network may be: rejected by their name, before a number that no host can hold is asked for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace pando::models {

// Rejects (value, `id`) a number below `least`.
void check_least(std::string_view id, std::string_view what, std::int64_t n, std::int64_t least);
// Rejects (value, `id`) a tensor of more elements than there can be.
void check_tensor(std::string_view id, std::string_view what, std::initializer_list<std::int64_t> sizes);
// Rejects (value, `id`) what is no number.
void check_rate(std::string_view id, double learning_rate);

// Bytes of a constant and of its text.
std::uint64_t bytes_of_constant(std::initializer_list<std::int64_t> sizes);
}  // namespace pando::models
