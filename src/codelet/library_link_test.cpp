// Modules together: files linked later, libraries that codelets call, files that change.
#include "codelet/library_test.h"

namespace pando {
namespace {

TEST_F(LibraryTest, FilesAddedApartAreLinkedLater) {
  const std::string b = write("b.cpp", R"(#include <poplar/Vertex.hpp>
    extern int base;
    int twice(int);
    class Use : public poplar::Vertex { public: poplar::Output<int> out; void compute() { *out = twice(++base); } };)");
  const std::string a = write("a.cpp", "int base = 20; int twice(int x) { return 2 * x; }\n");
  Library library;
  library.compile({{b}, ""}, "", nullptr);
  EXPECT_EQ(library.find("Use")->kernel, nullptr);
  const CodeletId id = library.id_of("Use");
  try {
    library.link("7");
    FAIL();
  } catch (const poplar::link_error& e) { EXPECT_THAT(e.what(), HasSubstr("undefined symbol _Z5twicei on tile 7")); }
  library.compile({{a}, ""}, "", nullptr);
  library.link("7");
  ASSERT_NE(library[id].kernel, nullptr);
  Tiles tiles(library, 1);
  tiles.enter(0);
  int out = 0;
  int* vertex = &out;
  run(library[id], &vertex);
  EXPECT_EQ(out, 42);
  library.link("7");  // nothing left to do
  EXPECT_EQ(library.modules(), 3u);
}

TEST_F(LibraryTest, CodeletsCallSharedLibraries) {
  // zlib stands for a library of kernels.
  const std::string file = write("crc.cpp", R"(#include <poplar/Vertex.hpp>
    extern "C" unsigned long crc32(unsigned long, const unsigned char*, unsigned);
    class Crc : public poplar::Vertex { public: poplar::Output<unsigned> out; void compute() {
      *out = static_cast<unsigned>(crc32(0, reinterpret_cast<const unsigned char*>("123456789"), 9)); } };)");
  Library library;
  library.compile({{file}, ""}, "-lz -L/usr/lib/x86_64-linux-gnu -L/usr/lib/aarch64-linux-gnu", nullptr);
  unsigned out = 0;
  unsigned* vertex = &out;
  run(*library.find("Crc"), &vertex);
  EXPECT_EQ(out, 0xcbf43926u);

  try {
    library.compile({{file}, ""}, "-lnowhere", nullptr);
    FAIL();
  } catch (const poplar::graph_program_compilation_error& e) { EXPECT_THAT(e.what(), HasSubstr("no library 'libnowhere.so' in ")); }
  // A library that had a function when the file was compiled and has it no more; one that is gone.
  const auto rejection = [](const GpFile& gp) -> std::string {
    try {
      return Library().load_bytes(write_gp(gp), "crc.gp"), "";
    } catch (const poplar::graph_object_load_error& e) { return e.what(); }
  };
  GpFile gp = read_gp(library.module(ModuleId(0)).gp_bytes.get(), "crc"), other = gp;
  std::string& code = other.description.objects.at(0).code;
  for (std::size_t at = 0; (at = code.find("crc32", at)) != std::string::npos; ++at) code.replace(at, 5, "crc99");
  EXPECT_THAT(rejection(other), AllOf(HasSubstr("'crc.gp' cannot be loaded"), HasSubstr("undefined symbol: crc99")));
  gp.description.libraries = {"libgone.so"};
  EXPECT_THAT(rejection(gp), HasSubstr("'crc.gp' cannot be loaded: its code calls libgone.so"));
}

TEST_F(LibraryTest, AFileIsReadOnceUntilItChanges) {
  const auto gp_of = [&](const char* value) {
    const PopcResult compiled = run_popc(
        {write("v.cpp", std::string("#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex { public: poplar::Output<int> out; "
                                    "void compute() { *out = ") +
                            value + "; } };")},
        "");
    EXPECT_TRUE(compiled.ok) << compiled.messages;
    return compiled.gp;
  };
  const auto result_of = [&](Library& library) {
    int out = 0;
    int* vertex = &out;
    run(*library.find("V"), &vertex);
    return out;
  };
  const std::string first = gp_of("5"), second = gp_of("66");
  const std::string file = write("v.gp", first);
  Library a, b, c;
  a.load_file(file);
  b.load_file(file);
  EXPECT_EQ(a.find("V")->kernel, b.find("V")->kernel);
  EXPECT_EQ(&a.module(ModuleId(0)).gp_bytes.get(), &b.module(ModuleId(0)).gp_bytes.get());
  write("v.gp", second);
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(2));
  c.load_file(file);
  EXPECT_EQ(result_of(c), 66);
  EXPECT_EQ(result_of(b), 5);
  EXPECT_THROW(Library().load_file((folder_ / "absent.gp").string()), poplar::file_load_error);

  // Per-tile globals: each graph has code of its own.
  const PopcResult counting = run_popc({write("n.cpp",
                                              "#include <poplar/Vertex.hpp>\nint n; class N : public poplar::Vertex { public: "
                                              "poplar::Output<int> out; void compute() { *out = ++n; } };")},
                                       "");
  const std::string own = write("n.gp", counting.gp);
  Library d, e;
  d.load_file(own);
  e.load_file(own);
  EXPECT_NE(d.find("N")->kernel, e.find("N")->kernel);
}

TEST_F(LibraryTest, BitcodeIsForLinking) {
  const std::string file = write(
      "v.cpp",
      "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex { public: poplar::Output<int> out; void compute() { *out = 5; } };");
  const std::string rule = (folder_ / "v.d").string();
  const PopcResult compiled = run_popc({"-c", "-MF", rule, file}, "");
  ASSERT_TRUE(compiled.ok) << compiled.messages;
  const std::string partial = write("partial.gp", compiled.gp);
  std::ostringstream text;
  text << std::ifstream(rule).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("v.cpp"));
  EXPECT_THAT(text.str(), HasSubstr("Vertex.hpp"));
  try {
    Library().load_file(partial);
    FAIL();
  } catch (const poplar::graph_object_load_error& e) { EXPECT_THAT(e.what(), HasSubstr("compiled with -c")); }
  const PopcResult linked = run_popc({partial}, "");
  ASSERT_TRUE(linked.ok) << linked.messages;
  Library library;
  library.load_bytes(linked.gp, "whole.gp");
  int out = 0;
  int* vertex = &out;
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 5);
}

}  // namespace
}  // namespace pando
