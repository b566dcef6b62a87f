#ifndef poplar_DebugContext_hpp
#define poplar_DebugContext_hpp

#include <poplar/Export.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/StringRef.hpp>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

// Pando's own libraries are no places of a user's program: what they make belongs to the line that called them.
#ifdef PANDO_LIBRARY
#define PANDO_CALLER_LINE 0
#else
#define PANDO_CALLER_LINE __builtin_LINE()
#endif

namespace poplar {

/// A place in a source file; Current() is the caller's.
class SourceLocation {
 public:
  SourceLocation() : function_(""), file_(""), line_(0) {}
  SourceLocation(const char* function, const char* file, unsigned line) : function_(function), file_(file), line_(line) {}
  static SourceLocation Current(const char* function = __builtin_FUNCTION(), const char* file = __builtin_FILE(),
                                unsigned line = PANDO_CALLER_LINE) {
    return SourceLocation(function, file, line);
  }
  const char* getFunctionName() const { return function_; }
  const char* getFileName() const { return file_; }
  unsigned getLineNumber() const { return line_; }
  bool isValid() const { return line_ != 0; }

 private:
  const char* function_;
  const char* file_;
  unsigned line_;
};

/// Numbers a DebugInfo; 0 is none.
typedef std::uint64_t DebugId;

class DebugInfo;
class DebugContext;

/// A name and the path that leads to it: what is handed down from an operation to the operations it is made of.
class POPLAR_EXPORT DebugNameAndId {
 public:
  DebugNameAndId(std::string name = "", DebugId parent = 0, std::string parentPath = "", SourceLocation location = SourceLocation());
  DebugNameAndId(const char* name);
  DebugNameAndId(StringRef name);
  DebugNameAndId(DebugId parent);
  DebugNameAndId(const DebugInfo& info, std::string name = "");
  DebugNameAndId(const DebugNameAndId& parent, StringRef name);
  DebugNameAndId(const DebugNameAndId&) = default;
  DebugNameAndId(DebugNameAndId&&) = default;
  DebugNameAndId& operator=(const DebugNameAndId&) = default;
  DebugNameAndId& operator=(DebugNameAndId&&) = default;

  /// Parent path and name, joined with '/'.
  std::string getPathName() const;
  std::string getName() const { return name_; }
  DebugId getParentDebugId() const { return parent_; }
  /// Of the context or DebugInfo that this was made from, if any.
  const SourceLocation& getSourceLocation() const { return location_; }

 private:
  std::string name_;
  std::string parentPath_;
  DebugId parent_;
  SourceLocation location_;
};

/// The name of a variable, compute set or program step, and where in the user's program it was made. Every function that makes
/// something takes one. Converts from a name, a DebugNameAndId or a DebugInfo: `{dnai}`, `{dnai, "suffix"}`, `"name"`.
class POPLAR_EXPORT DebugContext {
 public:
  DebugContext(SourceLocation location = SourceLocation::Current());
  DebugContext(const char* name, SourceLocation location = SourceLocation::Current());
  DebugContext(StringRef name, SourceLocation location = SourceLocation::Current());
  DebugContext(std::string name, SourceLocation location = SourceLocation::Current());
  DebugContext(const DebugInfo& info, std::string name = "", SourceLocation location = SourceLocation::Current());
  DebugContext(const DebugNameAndId& parent, std::string name = "", SourceLocation location = SourceLocation::Current());
  /// A step below `parent`. A template, so that nothing else converts to the first argument.
  template <class Context, class = typename std::enable_if<std::is_same<Context, DebugContext>::value>::type>
  DebugContext(const Context& parent, std::string name, SourceLocation location = SourceLocation::Current())
      : DebugContext(DebugNameAndId(std::move(name), parent.getParentDebugId(), parent.getPathName(), parent.getSourceLocation()), "",
                     location) {}

  /// Parent path and name, joined with '/'.
  std::string getPathName() const { return path_; }
  DebugId getParentDebugId() const { return parent_; }
  /// The line of the user's program that this was made by; below it, the parent's.
  const SourceLocation& getSourceLocation() const { return location_; }

 private:
  std::string path_;
  DebugId parent_;
  SourceLocation location_;
};

/// Writes the path name.
inline std::ostream& operator<<(std::ostream& out, const DebugContext& context) { return out << context.getPathName(); }

/// The form of the stream of debug information.
enum class DebugSerializationFormat { JSON, CBOR };

/// What an operation has to say about itself: named values, kept until it is destroyed and then written to the stream, if one
/// is open.
class POPLAR_EXPORT DebugInfo {
 public:
  DebugInfo(const DebugContext& context, std::string layer);
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;
  virtual ~DebugInfo();

  DebugId getId() const { return id_; }
  std::string getPathName() const { return path_; }
  /// The context's.
  const SourceLocation& getSourceLocation() const { return location_; }
  /// False if the name has a value already.
  bool setValue(std::string name, ProfileValue value);

  /// Opens the file that every DebugInfo of this process is written to from now on (docs/level/profile.md).
  static void initializeStreamer(const std::string& fileName, const DebugSerializationFormat& format = DebugSerializationFormat::CBOR);
  static void closeStreamer();
  /// Is there such a file? While there is none, nobody sees the values.
  static bool isStreamerOpen();

 private:
  std::string path_;
  std::string layer_;
  DebugId id_;
  DebugId parent_;
  SourceLocation location_;
  std::unique_ptr<ProfileValue::Map> values_;
};

}  // namespace poplar

#endif
