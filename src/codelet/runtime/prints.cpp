#include "codelet/runtime/prints.h"

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "codelet/runtime/tile_context.h"

namespace pando {

namespace {

// Lines of several threads: each begins with a tag and is whole, unless its vertex ends it later and another one prints meanwhile.
class TaggedLines {
 public:
  int write(std::FILE* file, std::string_view text, const std::string& tag) {
    const std::lock_guard lock(mutex_);
    std::string out;
    if (!open_.empty() && open_ != tag) {
      out = "\n";
      open_.clear();
    }
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at), stop = end == std::string_view::npos ? text.size() : end + 1;
      if (open_.empty()) out += tag;
      out += text.substr(at, stop - at);
      open_ = end == std::string_view::npos ? tag : "";
      at = stop;
    }
    std::fwrite(out.data(), 1, out.size(), file);
    return static_cast<int>(text.size());
  }

 private:
  std::mutex mutex_;
  std::string open_;  // of the line that has no end yet
};

int write_tagged(std::FILE* file, std::string_view text) {
  static TaggedLines lines;  // of the process, as its standard output is
  return lines.write(file, text, tile_context().running->tag());
}

int format_tagged(std::FILE* file, const char* format, va_list values) {
  va_list again;
  va_copy(again, values);
  const int bytes = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (bytes < 0) return bytes;
  std::string text(static_cast<std::size_t>(bytes) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, values);
  text.pop_back();
  return write_tagged(file, text);
}

bool is_tagged(const std::FILE* file) { return tile_context().running != nullptr && (file == stdout || file == stderr); }

int print_values(std::FILE* file, const char* format, va_list values) {
  return is_tagged(file) ? format_tagged(file, format, values) : std::vfprintf(file, format, values);
}

}  // namespace

int print(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int bytes = print_values(stdout, format, values);
  va_end(values);
  return bytes;
}

int print_all(const char* format, va_list values) { return print_values(stdout, format, values); }

int print_to(void* file, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int bytes = print_values(static_cast<std::FILE*>(file), format, values);
  va_end(values);
  return bytes;
}

int print_all_to(void* file, const char* format, va_list values) { return print_values(static_cast<std::FILE*>(file), format, values); }

int print_line(const char* text) {
  if (!is_tagged(stdout)) return std::puts(text);
  return write_tagged(stdout, std::string(text) + "\n");
}

int print_text_to(const char* text, void* file) {
  auto* const to = static_cast<std::FILE*>(file);
  return is_tagged(to) ? write_tagged(to, text) : std::fputs(text, to);
}

int print_char_to(int character, void* file) {
  auto* const to = static_cast<std::FILE*>(file);
  if (!is_tagged(to)) return std::fputc(character, to);
  const char text[] = {static_cast<char>(character)};
  write_tagged(to, {text, 1});
  return static_cast<unsigned char>(text[0]);
}

int print_char(int character) { return print_char_to(character, stdout); }

}  // namespace pando
