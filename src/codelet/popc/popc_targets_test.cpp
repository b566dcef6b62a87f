// popc's command line: targets, spellings of flags, objects of several targets, assembly.
#include <sys/wait.h>

#include "codelet/library_test.h"

namespace pando {
namespace {

struct Result {
  int status;
  std::string text;  // both streams
};

class PopcTargets : public LibraryTest {
 protected:
  Result popc(const std::string& arguments) {
    const std::string log = (folder_ / "log").string();
    const int status = std::system(("cd " + folder_.string() + " && " + popc_ + " " + arguments + " >" + log + " 2>&1").c_str());
    std::ostringstream text;
    text << std::ifstream(log).rdbuf();
    return {WEXITSTATUS(status), text.str()};
  }
  // What a vertex "V" with one int output writes.
  int run_v(const std::string& gp) {
    Library library;
    library.load_file((folder_ / gp).string());
    Tiles tiles(library, 1);
    tiles.enter(0);
    int out = -1;
    int* vertex = &out;
    run(*library.find("V"), &vertex);
    return out;
  }
};

std::string vertex(const std::string& body, const std::string& before = "") {
  return before +
         "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex {\n public:\n  poplar::Output<int> out;\n  bool compute() { " +
         body + " return true; }\n};\n";
}

const char* const kArchitecture = "#ifdef __IPU__\n#define ARCH __IPU_ARCH_VERSION__\n#else\n#define ARCH 0\n#endif\n";

TEST_F(PopcTargets, TheSourceSeesAnIpuIfNoHostIsAmongThem) {
  write("v.cpp", vertex("*out = ARCH;", kArchitecture));
  const std::pair<const char*, int> cases[] = {{"", 0},
                                               {"--target cpu", 0},
                                               {"--target=cpu,ipu2", 0},
                                               {"--target '[\"ipu2\", {\"name\": \"cpu\", \"arch\": \"cpu\"}]'", 0},
                                               {"--target ipu1", 1},
                                               {"-target=ipu2", 2},
                                               {"-target ipu21", 21},
                                               {"--target=ipu2,ipu21", 2}};
  for (const auto& [flags, expected] : cases) {
    const Result r = popc(std::string(flags) + " v.cpp -o v.gp");
    ASSERT_EQ(r.status, 0) << r.text;
    EXPECT_EQ(run_v("v.gp"), expected) << flags;
  }
  EXPECT_THAT(popc("-target=gpu v.cpp").text, HasSubstr("unknown target 'gpu'"));
}

TEST_F(PopcTargets, FlagsWithOneDashAndFlagsForClang) {
  write("v.cpp", vertex("*out = VALUE;"));
  for (const char* flags : {"-X -DVALUE=7", "-X=-DVALUE=7", "-X-DVALUE=7", "-Xclang -DVALUE=7"}) {
    const Result r = popc(std::string(flags) + " v.cpp -o v.gp");
    ASSERT_EQ(r.status, 0) << r.text;
    EXPECT_EQ(run_v("v.gp"), 7) << flags;
  }
  EXPECT_EQ(popc("-list-targets").text, popc("--list-targets").text);
  EXPECT_THAT(popc("-version").text, HasSubstr("clang version"));
  ASSERT_EQ(popc("-DVALUE=1 --S v.cpp -o v.s").status, 0);
  std::ostringstream assembly;
  assembly << std::ifstream(folder_ / "v.s").rdbuf();
  EXPECT_THAT(assembly.str(), HasSubstr(".text"));
  EXPECT_THAT(popc("v.cpp -X").text, HasSubstr("missing argument after '-X'"));
}

TEST_F(PopcTargets, AMinusIsStandardOutput) {
  write("v.cpp", vertex("*out = 3;"));
  ASSERT_EQ(popc("v.cpp -o - | tee piped.gp").status, 0);
  EXPECT_EQ(run_v("piped.gp"), 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "-"));
  EXPECT_THAT(popc("v.cpp --S -o -").text, HasSubstr(".text"));
  const Result full = popc("v.cpp -o - 2>&1 >/dev/full | cat");
  EXPECT_THAT(full.text, HasSubstr("popc: error: cannot write to standard output: No space left on device"));
}

// A build system that shortens the paths of a depfile must find the same files: otherwise it compiles again each time.
TEST_F(PopcTargets, DepfilesNameFilesAsTheyAre) {
  write("v.cpp", "#include <cmath>\n#include <vector>\n" + vertex("*out = 1;"));
  ASSERT_EQ(popc("-c -MF v.d v.cpp -o v.gp").status, 0);
  std::ifstream rule(folder_ / "v.d");
  std::size_t files = 0, of_the_library = 0;
  for (std::string word; rule >> word;) {
    if (word == "\\" || word.back() == ':') continue;
    ++files;
    of_the_library += word.find("/c++/") != std::string::npos;
    EXPECT_EQ(std::filesystem::path(word).lexically_normal(), word);
    EXPECT_TRUE(std::filesystem::exists(word)) << word;
  }
  EXPECT_GT(files, 10u);
  EXPECT_GT(of_the_library, 2u);
}

// Build systems call partial objects .o; what popc wrote it reads again under any name.
TEST_F(PopcTargets, PartialObjectsHaveAnyName) {
  write("v.cpp", vertex("*out = 5;"));
  ASSERT_EQ(popc("-c v.cpp -o v.o").status, 0);
  const Result r = popc("v.o -o linked.elf");
  ASSERT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(run_v("linked.elf"), 5);
  write("host.o",
        "\x7f"
        "ELF and so on");
  const Result foreign = popc("host.o -o v.gp");
  EXPECT_EQ(foreign.status, 1);
  EXPECT_THAT(foreign.text, HasSubstr("'host.o' is an object file of a host"));
}

TEST_F(PopcTargets, DeviceHeadersNameTheRegisters) {
  write("v.cpp", "#include <arch/gc_tile_defines.h>\n" + vertex("*out = (__builtin_ipu_get(CSR_W_WSR__INDEX) & CSR_W_WSR__CTXTID_M1__MASK) "
                                                                "+ (__builtin_ipu_get(CSR_W_COUNT_U__INDEX) == 0);"));
  const Result r = popc("v.cpp -o v.gp");
  ASSERT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(run_v("v.gp"), 1);
  write("w.cpp", "#include <arch/gc_tile_defines.h>\n" + vertex("*out = __builtin_ipu_get(CSR_W_REPEAT_COUNT__INDEX);"));
  EXPECT_THAT(popc("w.cpp -o w.gp").text, HasSubstr("only WSR, COUNT_L and COUNT_U"));
}

TEST_F(PopcTargets, OfVariantsOfAVertexTheHostsIsTaken) {
  write("v.cpp", vertex("*out = ARCH;", kArchitecture));
  for (const char* target : {"cpu", "ipu2", "ipu21"}) {
    const Result r = popc(std::string("-c --target ") + target + " v.cpp -o " + target + ".gp");
    ASSERT_EQ(r.status, 0) << r.text;
  }
  for (const char* order : {"cpu.gp ipu2.gp ipu21.gp", "ipu21.gp ipu2.gp cpu.gp"}) {
    const Result r = popc(std::string(order) + " -o all.gp");
    ASSERT_EQ(r.status, 0) << r.text;
    EXPECT_EQ(run_v("all.gp"), 0) << order;
  }
  const Result r = popc("ipu2.gp ipu21.gp -o ipus.gp");
  ASSERT_EQ(r.status, 0) << r.text;
  EXPECT_EQ(run_v("ipus.gp"), 2);
}

TEST_F(PopcTargets, AssemblyInThePlaceOfAStubIsRejected) {
  write("v.cpp", vertex(""));
  const char* const kAssembly = "#ifdef __IPU__\n#define NAME __runCodelet_V\n.globl NAME\nNAME:\n  setzi $m0, 1\n  exitz $mzero\n#endif\n";
  write("v.S", kAssembly);
  const Result together = popc("v.cpp v.S -o v.gp");
  EXPECT_EQ(together.status, 1);
  EXPECT_THAT(together.text, HasSubstr("vertex 'V' is in assembly of an IPU, in 'v.S', and its compute() in C++ does nothing"));
  // Where both come in objects, the vertex stops the program.
  ASSERT_EQ(popc("-c v.cpp -o stub.gp").status, 0);
  ASSERT_EQ(popc("-c v.S -o assembly.gp").status, 0);
  const Result linked = popc("stub.gp assembly.gp -o v.gp");
  EXPECT_EQ(linked.status, 0) << linked.text;
  EXPECT_THAT(linked.text, HasSubstr("in 'v.S', and its compute() in C++ does nothing: it will stop the program"));
  // A body for hosts is enough; so is a vertex without outputs.
  write("v.cpp", vertex("*out = 3;"));
  ASSERT_EQ(popc("v.cpp v.S -o v.gp").status, 0);
  EXPECT_EQ(run_v("v.gp"), 3);
  write("w.cpp",
        "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex { poplar::Input<int> in; bool compute() { return true; } };\n");
  EXPECT_EQ(popc("w.cpp v.S -o w.gp").status, 0);
}

TEST_F(PopcTargets, BuiltinsThatHostsDoNotHaveAreReportedWithTheirLine) {
  const std::pair<const char*, const char*> calls[] = {
      {"float2 x = {1, 2};\n    x = __builtin_ipu_f32v2axpy(x, x);\n    *out = x[0];", "it works on accumulators"},
      {"half4 x = {1};\n    __builtin_ipu_f16v4cmac(x, x); *out = 1;", "it works on accumulators"},
      {"float y = 1;\n    __builtin_ipu_uput(y, 209); *out = 1;", "it reads or writes a register"}};
  for (const auto& [body, why] : calls) {
    write("v.cpp", vertex(body));
    const Result text = popc("v.cpp -o v.gp");
    EXPECT_EQ(text.status, 1);
    EXPECT_THAT(text.text, HasSubstr("v.cpp:6:"));
    EXPECT_THAT(text.text, HasSubstr(std::string("is unavailable: hosts do not have this builtin of an IPU: ") + why));
  }
}

TEST_F(PopcTargets, AssemblyIsReportedWithItsLine) {
  write("v.cpp", vertex("int x = 1;\n    asm volatile(\"f32v2mac %[x], %[x]\" : [x] \"+r\"(x));\n    *out = x;"));
  const Result text = popc("v.cpp -o v.gp");
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.text, HasSubstr("v.cpp:6:"));
  EXPECT_THAT(text.text, HasSubstr("error: inline assembly of an IPU: 'f32v2mac "));
  EXPECT_THAT(text.text, HasSubstr("'f32v2mac' has other operands"));
  write("v.cpp",
        "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex {\n public:\n  poplar::Output<int> out;\n"
        "  static const bool isExternalCodelet = true;\n  bool compute() { return true; }\n};\n");
  const Result external = popc("v.cpp -o v.gp");
  EXPECT_EQ(external.status, 0) << external.text;
  EXPECT_THAT(popc("--describe v.gp").text, HasSubstr("undefined __runCodelet_V"));
  // Memory barriers and what no vertex reaches stand.
  write("v.cpp", vertex("asm volatile(\"\" ::: \"memory\"); *out = 4;",
                        "int unused(int x) { asm volatile(\"setzi $a0, 8\" : \"+r\"(x)); return x; }\n"));
  const Result barrier = popc("v.cpp -o v.gp");
  EXPECT_EQ(barrier.status, 0) << barrier.text;
  EXPECT_EQ(run_v("v.gp"), 4);
}

}  // namespace
}  // namespace pando
