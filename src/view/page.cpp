#include "view/page.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/check.h"
#include "base/error.h"
#include "view/built_page.h"

namespace pando::view {

namespace {

// Bytes that stand together, in a comment of their own: a multiple of 3, as viewer/src/report/page_bytes.ts reads them.
constexpr std::size_t kPiece = 49'152;
constexpr std::string_view kHole = "<!-- pando: reports -->";

// In an attribute between quotation marks.
std::string attribute(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

// Little-endian.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// As zlib has it.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffff'ffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb8'8320 : 0);
  }
  return ~crc;
}

constexpr std::string_view kMagic = "PANDORPT", kEndMagic = "PANDOEND";
constexpr std::uint64_t kVersion = 4;
constexpr std::size_t kHead = 12, kFoot = 28;

}  // namespace

bool is_report(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

void check_report(std::string_view bytes) {
  if (bytes.empty()) fail(ErrorKind::parse_error, "report-foreign", "this is not a report of Pando: the file is empty");
  if (!is_report(bytes)) fail(ErrorKind::parse_error, "report-foreign", "this is not a report of Pando: it does not begin with {}", kMagic);
  if (bytes.size() < kHead + kFoot)
    fail(ErrorKind::parse_error, "report-cut", "the report is cut off: it has {} bytes, the shortest one has {}", bytes.size(),
         kHead + kFoot);
  if (const std::uint64_t version = number_at(bytes, kMagic.size(), 4); version != kVersion)
    fail(ErrorKind::parse_error, "report-version", "the report has version {}, this Pando shows versions 3 and {}", version, kVersion);
  if (bytes.substr(bytes.size() - kEndMagic.size()) != kEndMagic)
    fail(ErrorKind::parse_error, "report-cut", "the report is cut off after {} bytes: it does not end with {}", bytes.size(), kEndMagic);
  const std::size_t foot = bytes.size() - kFoot;
  const std::uint64_t offset = number_at(bytes, foot, 8), stored = number_at(bytes, foot + 8, 4);
  if (offset < kHead || offset > foot || stored > foot - offset)
    fail(ErrorKind::parse_error, "report-damaged", "the report is damaged: its footer names the bytes {} to {} of {}", offset,
         offset + stored, bytes.size());
  if (crc32(bytes.substr(offset, stored)) != number_at(bytes, foot + 16, 4))
    fail(ErrorKind::parse_error, "report-damaged", "the report is damaged: the checksum of its index does not fit");
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

ShownReport demo_report() {
  ShownReport demo{"demo.pando", {}};
  for (std::size_t i = 0; i < kDemoPartCount; ++i) demo.bytes += kDemoParts[i];
  return demo;
}

std::string write_page(std::span<const ShownReport> reports, std::string_view fabrics) {
  if (kPagePartCount == 0)
    fail(ErrorKind::poplar_error, "no-viewer", "this build of Pando has no viewer: {}. Build it again where Node and npm can be had",
         kWhyNoPage);
  std::string page;
  for (std::size_t i = 0; i < kPagePartCount; ++i) page += kPageParts[i];
  const std::size_t hole = page.find(kHole);
  PANDO_CHECK(hole != std::string::npos);
  std::string filled;
  for (const ShownReport& r : reports) {
    filled += fmt::format(R"(<div class="pando-report" hidden data-name="{}" data-fabrics="{}" data-bytes="{}">)", attribute(r.name),
                          attribute(fabrics), r.bytes.size());
    for (std::size_t at = 0; at < r.bytes.size(); at += kPiece)
      filled.append("<!--").append(base64(std::string_view(r.bytes).substr(at, kPiece))).append("-->");
    filled += "</div>\n";
  }
  return page.replace(hole, kHole.size(), filled);
}

}  // namespace pando::view
