#include "poplibs/popops/reduce/work_items.h"

#include <algorithm>
#include <tuple>

namespace popops::internal {

namespace {

// More rows than this are not cut across: each would be a region of every part.
constexpr std::size_t kManyRows = 256;
// A row's part has at least this many elements.
constexpr std::size_t kShortRow = 8;
// Parts that share outputs have at least this many elements; and it takes so many to make up for a stage that would not be there without.
constexpr std::size_t kSmallPart = 256, kWorthAStage = 2048;
// Overlapping items are joined if they are at most this many, and the rows are not cut shorter than that on average.
constexpr std::size_t kManyItems = 16, kShortCut = 32;

std::size_t stride_of(const ViewDims& dims, std::size_t d) {
  std::size_t stride = 1;
  for (std::size_t i = d + 1; i < dims.size(); ++i) stride *= dims[i].size;
  return stride;
}

// The output that the element at `position` is reduced to.
std::size_t output_of(const ViewDims& dims, std::size_t position) {
  std::size_t output = 0, scale = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    const std::size_t index = position % dims[d].size;
    position /= dims[d].size;
    if (dims[d].reduced) continue;
    output += index * scale;
    scale *= dims[d].size;
  }
  return output;
}

// Whole slices of the dimensions from d on: `n` indices of dimension d, all of the inner ones. What has more than four dimensions
// from the first reduced one on is taken apart.
void append_box(const ViewDims& dims, std::size_t d, std::size_t n, std::size_t position, WorkItems& items) {
  const std::size_t left = dims.size() - d;
  const std::size_t stride = stride_of(dims, d);
  if (left > (dims[d].reduced ? 4 : 3)) {
    for (std::size_t i = 0; i < n; ++i) append_box(dims, d + 1, dims[d + 1].size, position + i * stride, items);
    return;
  }
  std::size_t sizes[4] = {1, 1, 1, 1};  // reduced, kept, reduced, kept
  for (std::size_t i = 0, to = dims[d].reduced ? 0 : 1; i < left; ++i) sizes[to + i] = i == 0 ? n : dims[d + i].size;
  WorkItem item;
  item.begin = output_of(dims, position);
  item.outputs = sizes[1] * sizes[3];
  item.middle = sizes[2];
  item.inner = sizes[3];
  if (sizes[1] == 1 || sizes[2] == 1) item.middle = 1, item.inner = item.outputs;  // rows
  item.regions = {{position, n * stride}};
  items.push_back(std::move(item));
}

bool same_work(const WorkItem& a, const WorkItem& b) {
  return a.begin == b.begin && a.outputs == b.outputs && a.middle == b.middle && a.inner == b.inner;
}

void append_region(std::vector<Region>& regions, const Region& region) {
  if (!regions.empty() && regions.back().space == region.space && regions.back().begin + regions.back().size == region.begin)
    regions.back().size += region.size;
  else
    regions.push_back(region);
}

// Rows of an item of rows, one source each.
void append_rows(const WorkItem& item, std::vector<Source>& rows) {
  for (const Region& r : item.regions)
    for (std::size_t at = 0; at < r.size; at += item.outputs)
      rows.push_back({item.begin, item.begin + item.outputs, r.begin + at, r.space});
}

bool overlap(const WorkItems& sorted) {
  std::size_t end = 0;
  for (const WorkItem& item : sorted) {
    if (item.begin < end) return true;
    end = std::max(end, item.begin + item.outputs);
  }
  return false;
}

// Part [first, last) of the second dimension of an item.
WorkItem between_outputs(const WorkItem& item, std::size_t first, std::size_t last) {
  const std::size_t block = item.is_rows() ? 1 : item.middle * item.inner, per = item.is_rows() ? 1 : item.inner;
  const std::size_t run = item.outputs / per * block;  // of one index of the first dimension
  WorkItem part;
  part.begin = item.begin + first * per;
  part.outputs = (last - first) * per;
  part.middle = item.middle;
  part.inner = item.inner;
  if (item.is_rows() || last - first == 1) part.middle = 1, part.inner = part.outputs;
  for (const Region& r : item.regions)
    for (std::size_t at = 0; at < r.size; at += run)
      append_region(part.regions, {r.begin + at + first * block, (last - first) * block, r.space});
  return part;
}

// Columns [first, last) of an item of rows that lie in one region.
WorkItem columns_of(const WorkItem& item, std::size_t first, std::size_t last) {
  const Region& r = item.regions[0];
  WorkItem part;
  part.begin = item.begin + first;
  part.outputs = part.inner = last - first;
  part.regions = {{r.begin + first, r.size - item.outputs + part.outputs, r.space}};
  part.row = item.outputs;
  return part;
}

// `n` parts with the same outputs, each of about as many of the steps of `step` elements that the regions consist of.
void append_parts_of_rows(const WorkItem& item, std::size_t step, std::size_t n, WorkItems& parts) {
  const std::size_t steps = (item.elements() + step - 1) / step;
  std::size_t region = 0, at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    WorkItem part = item;
    part.regions.clear();
    for (std::size_t left = (steps * (i + 1) / n - steps * i / n) * step; left > 0 && region < item.regions.size();) {
      const Region& r = item.regions[region];
      const std::size_t size = std::min(left, r.size - at);
      part.regions.push_back({r.begin + at, size, r.space});
      left -= size;
      at += size;
      if (at == r.size) ++region, at = 0;
    }
    if (!part.regions.empty()) parts.push_back(std::move(part));
  }
}

}  // namespace

void append_divided(const WorkItem& item, std::size_t target, bool shared, bool columns, WorkItems& parts) {
  const std::size_t size = item.elements();
  if (size <= target + target / 4) {
    parts.push_back(item);
    return;
  }
  const std::size_t n = (size + target - 1) / target;
  const std::size_t sharing = shared || size >= kWorthAStage ? std::min(n, (size + kSmallPart - 1) / kSmallPart) : 1;
  if (item.is_rows()) {
    const std::size_t rows = size / item.outputs;
    const bool whole = columns && item.regions.size() == 1;
    // Regions longer than there are of them: else partial results cost less.
    const bool across = item.outputs >= n * (whole ? kShortRow : std::max(kShortRow, rows)) && rows <= kManyRows;
    if (rows == 1 || across) {
      // Even bounds, so that parts of four-byte elements begin at multiples of eight bytes.
      const std::size_t cuts = std::min(n, (item.outputs + 1) / 2);
      for (std::size_t i = 0; i < cuts; ++i) {
        const std::size_t first = item.outputs * i / cuts / 2 * 2,
                          last = i + 1 == cuts ? item.outputs : item.outputs * (i + 1) / cuts / 2 * 2;
        parts.push_back(whole && rows > 1 ? columns_of(item, first, last) : between_outputs(item, first, last));
      }
      return;
    }
    // A sum of single elements is cut at multiples of 32.
    append_parts_of_rows(item, item.outputs == 1 ? 32 : item.outputs, std::min(sharing, rows), parts);
    return;
  }
  const std::size_t kept = item.outputs / item.inner, repeats = size / (item.outputs * item.middle);
  if (repeats > kManyRows && repeats >= 4 * sharing) return append_parts_of_rows(item, item.outputs * item.middle, sharing, parts);
  const std::size_t items = std::min(n, kept);
  for (std::size_t i = 0; i < items; ++i)
    append_divided(between_outputs(item, kept * i / items, kept * (i + 1) / items), target, shared, columns, parts);
}

void take_rows_apart(WorkItem& item) {
  if (item.row == 0) return;
  const Region whole = item.regions[0];
  item.regions.clear();
  for (std::size_t at = 0; at < whole.size; at += item.row) item.regions.push_back({whole.begin + at, item.outputs, whole.space});
  item.row = 0;
}

std::size_t WorkItem::elements() const {
  if (row > 0) return ((regions[0].size - outputs) / row + 1) * outputs;
  std::size_t n = 0;
  for (const Region& r : regions) n += r.size;
  return n;
}

void append_items(const ViewDims& dims, const poplar::Interval& interval, WorkItems& items) {
  if (dims.empty()) {
    for (std::size_t i = interval.begin(); i < interval.end(); ++i) items.push_back({0, 1, 1, 1, {{i, 1}}});
    return;
  }
  for (std::size_t at = interval.begin(); at < interval.end();) {
    // The outermost dimension of which whole slices begin here.
    std::size_t d = 0;
    while (at % stride_of(dims, d) != 0 || stride_of(dims, d) > interval.end() - at) ++d;
    const std::size_t stride = stride_of(dims, d);
    const std::size_t n = std::min((interval.end() - at) / stride, dims[d].size - at / stride % dims[d].size);
    append_box(dims, d, n, at, items);
    at += n * stride;
  }
}

WorkItems joined(WorkItems items) {
  std::stable_sort(items.begin(), items.end(), [](const WorkItem& a, const WorkItem& b) {
    return std::tie(a.begin, a.outputs, a.middle, a.inner) < std::tie(b.begin, b.outputs, b.middle, b.inner);
  });
  WorkItems out;
  for (WorkItem& item : items) {
    if (out.empty() || !same_work(out.back(), item))
      out.push_back(std::move(item));
    else
      for (const Region& r : item.regions) append_region(out.back().regions, r);
  }
  if (out.size() > kManyItems || !overlap(out)) return out;
  std::size_t n_rows = 0, elements = 0;
  for (const WorkItem& item : out) {
    if (!item.is_rows()) return out;
    n_rows += item.elements() / item.outputs;
    elements += item.elements();
  }
  const std::size_t most_bands = 2 * out.size() - 1;
  if (n_rows > kManyRows || elements < n_rows * most_bands * kShortCut) return out;
  std::vector<Source> rows;
  for (const WorkItem& item : out) append_rows(item, rows);
  WorkItems cut;
  for (const Band& band : bands_of(std::move(rows))) {
    WorkItem item;
    item.begin = band.begin;
    item.outputs = item.inner = band.end - band.begin;
    for (const Source& s : band.sources) append_region(item.regions, {s.at, item.outputs, s.space});
    cut.push_back(std::move(item));
  }
  return cut;
}

std::vector<Band> bands_of(std::vector<Source> sources) {
  std::stable_sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.begin < b.begin; });
  std::vector<std::size_t> ends;
  for (const Source& s : sources) ends.push_back(s.end);
  std::sort(ends.begin(), ends.end());
  std::vector<Band> bands;
  std::vector<Source> active;
  std::size_t next = 0, next_end = 0, at = 0;
  while (next < sources.size() || !active.empty()) {
    if (active.empty()) at = sources[next].begin;
    for (; next < sources.size() && sources[next].begin == at; ++next) active.push_back(sources[next]);
    while (next_end < ends.size() && ends[next_end] <= at) ++next_end;
    std::size_t end = ends[next_end];
    if (next < sources.size()) end = std::min(end, sources[next].begin);
    Band band{at, end, {}};
    for (const Source& s : active) band.sources.push_back({at, end, s.at + (at - s.begin), s.space});
    bands.push_back(std::move(band));
    at = end;
    active.erase(std::remove_if(active.begin(), active.end(), [at](const Source& s) { return s.end <= at; }), active.end());
  }
  return bands;
}

}  // namespace popops::internal
