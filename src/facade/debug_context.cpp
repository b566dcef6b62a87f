#include "poplar/DebugContext.hpp"

#include <atomic>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace poplar {
namespace {

std::string join(const std::string& parent, const std::string& name) {
  if (parent.empty()) return name;
  if (name.empty()) return parent;
  return parent + '/' + name;
}

// The stream of debug information belongs to the process: the API opens it with a static member.
struct Streamer {
  std::mutex mutex;
  std::ofstream file;
  bool cbor = false;
  bool first = true;
  std::atomic<bool> open{false};  // of the file; read without the mutex

  ~Streamer() { end(); }

  // CBOR: a map and an array of indefinite length, which end with a byte of all ones each.
  void begin() {
    file << (cbor ? "\xbf\x68"
                    "contexts\x9f"
                  : "{\"contexts\":[\n");
    first = true;
  }
  void add(const ProfileValue& entry) {
    std::ostringstream text;
    text << entry;
    if (cbor) {
      const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(nlohmann::ordered_json::parse(text.str()));
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    } else {
      file << (first ? "" : ",\n") << text.str();
    }
    first = false;
  }
  void end() {
    open = false;
    if (!file.is_open()) return;
    file << (cbor ? "\xff\xff" : "\n]}\n");
    file.close();
  }

  static Streamer& get() {
    static Streamer streamer;
    return streamer;
  }
};

DebugId next_id() {
  static std::atomic<DebugId> last{0};
  return ++last;
}

}  // namespace

DebugNameAndId::DebugNameAndId(std::string name, DebugId parent, std::string parentPath, SourceLocation location)
    : name_(std::move(name)), parentPath_(std::move(parentPath)), parent_(parent), location_(location) {}
DebugNameAndId::DebugNameAndId(const char* name) : name_(name), parent_(0) {}
DebugNameAndId::DebugNameAndId(StringRef name) : name_(name.cloneAsString()), parent_(0) {}
DebugNameAndId::DebugNameAndId(DebugId parent) : parent_(parent) {}
DebugNameAndId::DebugNameAndId(const DebugInfo& info, std::string name)
    : name_(std::move(name)), parentPath_(info.getPathName()), parent_(info.getId()), location_(info.getSourceLocation()) {}
DebugNameAndId::DebugNameAndId(const DebugNameAndId& parent, StringRef name)
    : name_(name.cloneAsString()), parentPath_(parent.getPathName()), parent_(parent.parent_), location_(parent.location_) {}

std::string DebugNameAndId::getPathName() const { return join(parentPath_, name_); }

DebugContext::DebugContext(SourceLocation location) : parent_(0), location_(location) {}
DebugContext::DebugContext(const char* name, SourceLocation location) : path_(name ? name : ""), parent_(0), location_(location) {}
DebugContext::DebugContext(StringRef name, SourceLocation location) : path_(name.cloneAsString()), parent_(0), location_(location) {}
DebugContext::DebugContext(std::string name, SourceLocation location) : path_(std::move(name)), parent_(0), location_(location) {}
DebugContext::DebugContext(const DebugInfo& info, std::string name, SourceLocation location)
    : path_(join(info.getPathName(), name)), parent_(info.getId()), location_(location.isValid() ? location : info.getSourceLocation()) {}
DebugContext::DebugContext(const DebugNameAndId& parent, std::string name, SourceLocation location)
    : path_(join(parent.getPathName(), name)),
      parent_(parent.getParentDebugId()),
      location_(location.isValid() ? location : parent.getSourceLocation()) {}

DebugInfo::DebugInfo(const DebugContext& context, std::string layer)
    : path_(context.getPathName()),
      layer_(std::move(layer)),
      id_(next_id()),
      parent_(context.getParentDebugId()),
      location_(context.getSourceLocation()) {
  const SourceLocation& at = context.getSourceLocation();
  if (isStreamerOpen() && at.isValid())
    setValue("location",
             ProfileValue::Map{{"functionName", at.getFunctionName()}, {"fileName", at.getFileName()}, {"lineNumber", at.getLineNumber()}});
}

DebugInfo::~DebugInfo() {
  if (!isStreamerOpen()) return;
  Streamer& streamer = Streamer::get();
  const std::lock_guard lock(streamer.mutex);
  if (!streamer.file.is_open()) return;
  ProfileValue::Map entry;
  entry.emplace("id", ProfileValue(id_));
  entry.emplace("parentId", ProfileValue(parent_));
  entry.emplace("layer", ProfileValue(layer_));
  entry.emplace("path", ProfileValue(path_));
  if (values_) entry.merge(*values_);
  streamer.add(ProfileValue(std::move(entry)));
}

bool DebugInfo::setValue(std::string name, ProfileValue value) {
  if (!values_) values_ = std::make_unique<ProfileValue::Map>();
  return values_->emplace(std::move(name), std::move(value)).second;
}

void DebugInfo::initializeStreamer(const std::string& fileName, const DebugSerializationFormat& format) {
  Streamer& streamer = Streamer::get();
  const std::lock_guard lock(streamer.mutex);
  streamer.end();
  streamer.cbor = format == DebugSerializationFormat::CBOR;
  streamer.file.open(fileName, std::ios::trunc | std::ios::binary);
  if (!streamer.file) pando::fail(pando::ErrorKind::file_load_error, "debug-info-file", "cannot write debug information to '{}'", fileName);
  streamer.begin();
  streamer.open = true;
}

void DebugInfo::closeStreamer() {
  Streamer& streamer = Streamer::get();
  const std::lock_guard lock(streamer.mutex);
  streamer.end();
}

bool DebugInfo::isStreamerOpen() { return Streamer::get().open.load(std::memory_order_relaxed); }

}  // namespace poplar
