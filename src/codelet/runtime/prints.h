// What codelets print (entries of PandoRuntime): as the C library does it, or, where TileContext::running says who runs, with its tag in
// front of each line.
#pragma once

#include <cstdarg>

namespace pando {

int print(const char* format, ...);
int print_all(const char* format, va_list values);
int print_to(void* file, const char* format, ...);
int print_line(const char* text);
int print_char(int character);
int print_all_to(void* file, const char* format, va_list values);
int print_text_to(const char* text, void* file);
int print_char_to(int character, void* file);

}  // namespace pando
