#include "project/text/draw.h"

#include <algorithm>
#include <vector>

namespace pando::project {

namespace {

std::string cell(const ProjectedProgram& p, const DeviceProgram& d, std::int64_t trip, std::int64_t samples) {
  std::string text;
  for (const Action& a : d.loop) {
    if (!a.guard.runs(trip, samples)) continue;
    const bool between_devices = a.kind != ActionKind::compute && p.streams[a.stream].from != kHost && p.streams[a.stream].to != kHost;
    if (a.kind != ActionKind::compute && !between_devices) continue;
    const char* const sign = a.kind == ActionKind::send ? ">" : a.kind == ActionKind::receive ? "<" : "";
    const std::string& name = a.kind == ActionKind::compute ? name_of(d, a) : p.streams[a.stream].name;
    text += (text.empty() ? "" : " ") + std::string(sign) + name + ":" + std::to_string(trip - a.guard.first);
  }
  return text;
}

void pad(std::string& line, std::size_t width) {
  if (line.size() < width) line.append(width - line.size(), ' ');
}

}  // namespace

std::string draw(const ProjectedProgram& p, std::int64_t samples) {
  std::vector<std::string> lines{"trip"};
  for (const DeviceProgram& d : p.devices) lines.push_back(device_name(d.device));
  std::size_t width = 0;
  for (std::int64_t trip = -1; trip < samples + p.drain; ++trip) {
    for (std::size_t i = 0; i < lines.size() && trip >= 0; ++i) {
      lines[i] += i == 0 ? std::to_string(trip) : cell(p, p.devices[i - 1], trip, samples);
    }
    width = 0;
    for (const std::string& line : lines) width = std::max(width, line.size() + 2);
    for (std::string& line : lines) pad(line, width);
  }
  std::string text;
  for (std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  return text;
}

}  // namespace pando::project
