#include <fmt/format.h>

#include "codelet/store/gp_file.h"

namespace pando {

namespace {

constexpr std::string_view kKinds[] = {"state", "input", "output", "inout"};
constexpr std::string_view kLayouts[] = {"one_ptr",       "span",        "short_span", "scaled_ptr32",     "scaled_ptr64",
                                         "scaled_ptr128", "compact_ptr", "delta_n",    "delta_n_elements", "compact_delta_n"};
constexpr std::string_view kCountings[] = {"nothing", "sizes", "inputs", "run"};
constexpr std::string_view kVertexKinds[] = {"vertex", "multi_vertex", "supervisor_vertex"};

std::string_view layout_name(FieldLayout l) { return kLayouts[static_cast<std::size_t>(l)]; }

std::string type_of(const Field& f) {
  const std::string element(name_of(f.type));
  switch (f.shape) {
    case FieldShape::scalar: return element;
    case FieldShape::vector: return fmt::format("{}[{}]", element, layout_name(f.layout));
    case FieldShape::vector_of_vectors:
      return f.scalar_rows ? fmt::format("{}[{}][1]", element, layout_name(f.layout))
                           : fmt::format("{}[{}][{}]", element, layout_name(f.layout), layout_name(f.inner_layout));
    case FieldShape::vector_list: return fmt::format("{}[list {}]", element, layout_name(f.layout));
  }
  return element;
}

}  // namespace

std::string describe(const GpDescription& d) {
  std::string out;
  for (const Codelet& c : d.codelets) {
    out += fmt::format("{} {} size {} align {}", kVertexKinds[static_cast<std::size_t>(c.kind)], c.name, c.host_size, c.host_align);
    if (c.uses_tile) out += " uses_tile";
    if (c.in_assembly) out += " in assembly";
    if (c.counting != CountedBy::nothing) out += fmt::format(" counted by {}", kCountings[static_cast<std::size_t>(c.counting)]);
    std::vector<ReservedRange> ranges = c.shared_ranges;
    if (c.reserved.size > 0) ranges.insert(ranges.begin(), c.reserved);
    for (const ReservedRange& r : ranges) {
      out += fmt::format(" reserve {}+{}", r.begin, r.size);
      if (!r.image.empty()) out += fmt::format(" image {}", r.image);
    }
    if (c.code_bytes > 0) out += fmt::format(" code {}", c.code_bytes);
    if (c.stack_bytes > 0) out += fmt::format(" stack {}", c.stack_bytes);
    for (const DeclaredCode& code : c.shared_code) out += fmt::format(" code of {} {}", code.name, code.bytes);
    out += '\n';
    if (!c.uncounted.empty()) out += fmt::format("  not counted: {}\n", c.uncounted);
    for (const Field& f : c.fields) {
      out += fmt::format("  {:<6} {} {}", kKinds[static_cast<std::size_t>(f.kind)], f.name, type_of(f));
      if (f.shape != FieldShape::scalar) out += fmt::format(" align {}", f.min_align);
      if (f.interleaved) out += " interleaved";
      out += fmt::format(" at {}+{}\n", f.host_offset, f.host_size);
    }
  }
  if (d.globals_size > 0) out += fmt::format("globals size {} align {}\n", d.globals_size, d.globals_align);
  for (const GpObject& o : d.objects)
    if (!o.level.empty()) out += fmt::format("code for {} {}\n", o.level, o.size);
  for (const std::string& name : d.libraries) out += fmt::format("library {}\n", name);
  for (const std::string& name : d.undefined) out += fmt::format("undefined {}\n", name);
  return out;
}

}  // namespace pando
