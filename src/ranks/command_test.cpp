// `pando run` from outside, as MPI ranks: equality, a rank that is killed, ranks with different programs, a bare mpirun.
#include "base/files/temporary.h"
#include "base/testing/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace pando::ranks {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPando = build_path("bin/pando");

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Outcome {
  int status = 0;
  std::string text;
};

Outcome sh(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  Outcome o;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) o.text.append(buffer, n);
  const int status = pclose(pipe);
  o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return o;
}

class Command : public ::testing::Test {
 protected:
  void SetUp() override {
    if (sh("mpirun --version").status != 0) GTEST_SKIP() << "no mpirun";
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 1);
    folder_ = temporary_file(".ranks");
    std::filesystem::remove(folder_);
    std::filesystem::create_directory(folder_);
    setenv("PANDO_TEST_MARK", folder_.c_str(), 1);
    ASSERT_EQ(sh(kPando + " model mlp --layers 4 --width 8 --batch 8 --learning-rate 0.5 -o " + path("mlp.txt")).status, 0);
    ASSERT_EQ(sh(kPando + " transform " + path("mlp.txt") + " --batch x,z --pipeline 2 --microbatches 2 --pieces " + path("pieces.json") +
                 " -o " + path("two.txt"))
                  .status,
              0);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return folder_ + '/' + name; }
  std::string two(const std::string& more) const { return path("two.txt") + " --seed 1 --quiet " + more; }

  // The process that is rank `rank` of this test's run, or the one that stands between it and mpirun.
  pid_t process_of(unsigned rank, bool supervisor) const {
    const std::string mark = "PANDO_TEST_MARK=" + folder_, number = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    std::map<pid_t, pid_t> parents;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string environment = '\0' + contents(entry.path() / "environ"), command = contents(entry.path() / "cmdline");
      const auto has = [&](const std::string& what) { return environment.find('\0' + what + '\0') != std::string::npos; };
      if (!has(mark) || !has(number) || command.find("pando-run") == std::string::npos) continue;
      const std::string status = contents(entry.path() / "status");
      parents[std::stoi(name)] = std::stoi(status.substr(status.find("PPid:") + 5));
    }
    for (const auto& [process, parent] : parents) {
      const bool has_child = std::any_of(parents.begin(), parents.end(), [&](const auto& p) { return p.second == process; });
      if (has_child == supervisor) return process;
    }
    return 0;
  }
  // Starts a run that would go on for hours, and kills a rank when `begun` says that it is in the middle.
  Outcome killed(const std::string& command, unsigned rank, bool supervisor = false) {
    Outcome o;
    std::thread run([&] { o = sh(command); });
    pid_t pid = 0;
    for (int i = 0; i < 300 && pid == 0; ++i) {
      std::this_thread::sleep_for(100ms);
      pid = process_of(rank, supervisor);
    }
    EXPECT_NE(pid, 0);
    std::this_thread::sleep_for(3s);
    pid = process_of(rank, supervisor);  // mpirun's child may have been seen before it had one
    if (pid != 0) kill(pid, SIGKILL);
    run.join();
    return o;
  }

  // The processes of this test's run whose command has this in it.
  std::vector<pid_t> processes(const std::string& of) const {
    const std::string mark = '\0' + ("PANDO_TEST_MARK=" + folder_) + '\0';
    std::vector<pid_t> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid())) continue;
      const std::string environment = '\0' + contents(entry.path() / "environ"), command = contents(entry.path() / "cmdline");
      if (environment.find(mark) != std::string::npos && command.find(of) != std::string::npos) all.push_back(std::stoi(name));
    }
    return all;
  }
  bool all_end_within(std::chrono::seconds time) const {
    const auto begin = std::chrono::steady_clock::now();
    while (!processes("pando-run").empty() || !processes("mpirun").empty()) {
      if (std::chrono::steady_clock::now() - begin > time) return false;
      std::this_thread::sleep_for(50ms);
    }
    return true;
  }
  // Starts a run of hours, without a shell between; returns when its ranks are in the middle.
  pid_t start(std::vector<std::string> words) const {
    for (const std::string& w : {path("two.txt"), std::string("--seed=1"), std::string("--quiet"), std::string("--steps=1000000000")})
      words.push_back(w);
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      execvp(argv[0], argv.data());
      _exit(127);
    }
    for (int i = 0; i < 300 && process_of(1, false) == 0; ++i) std::this_thread::sleep_for(100ms);
    EXPECT_NE(process_of(1, false), 0);
    std::this_thread::sleep_for(3s);
    return child;
  }

  std::string folder_;
};

TEST_F(Command, ranks_give_the_bits_of_threads) {
  const Outcome threads = sh(kPando + " run " + two("--steps 3 -o " + path("a.npz") + " --pieces " + path("pieces.json")));
  EXPECT_EQ(threads.status, 0) << threads.text;
  const Outcome ranks = sh(kPando + " run --ranks 2 --threads 2 --capacity 0 --times " +
                           two("--steps 3 -o " + path("b.npz") + " --pieces " + path("pieces.json")));
  EXPECT_EQ(ranks.status, 0) << ranks.text;
  EXPECT_THAT(ranks.text, HasSubstr("2 devices on 2 ranks"));
  EXPECT_THAT(ranks.text, HasSubstr("device   2 rank   1: compute"));
  const Outcome bare =
      sh("mpirun --oversubscribe -n 2 " + kPando + " run " + two("--steps 3 -o " + path("c.npz") + " --pieces " + path("pieces.json")));
  EXPECT_EQ(bare.status, 0) << bare.text;
  const Outcome asking =
      sh("PANDO_MPI_BELLS=0 " + kPando + " run --ranks 2 " + two("--steps 3 -o " + path("d.npz") + " --pieces " + path("pieces.json")));
  EXPECT_EQ(asking.status, 0) << asking.text;
  EXPECT_FALSE(contents(path("a.npz")).empty());
  EXPECT_EQ(contents(path("a.npz")), contents(path("b.npz")));
  EXPECT_EQ(contents(path("a.npz")), contents(path("d.npz")));
  EXPECT_EQ(contents(path("a.npz")), contents(path("c.npz")));
}

TEST_F(Command, a_rank_that_is_killed_is_named_with_its_step_and_last_operation) {
  const Outcome o = killed(kPando + " run --ranks 2 " + two("--steps 1000000000"), 1);
  EXPECT_NE(o.status, 0);
  EXPECT_THAT(o.text, ::testing::ContainsRegex("pando run: rank 1 died: device 2 in step [1-9][0-9]*, last operation: .*[a-z]"));
  EXPECT_THAT(o.text, Not(HasSubstr("none yet")));
}

TEST_F(Command, a_bare_mpirun_with_a_rank_that_is_killed_ends_and_says_what_it_was_doing) {
  for (const bool supervisor : {false, true}) {
    const Outcome o = killed("mpirun --oversubscribe -n 2 " + kPando + " run " + two("--steps 1000000000"), 1, supervisor);
    EXPECT_NE(o.status, 0);
    EXPECT_THAT(o.text, ::testing::ContainsRegex("pando run: rank 1 died: device 2 in step [1-9][0-9]*, last operation: .*[a-z]"))
        << supervisor;
    EXPECT_THAT(o.text, Not(HasSubstr("rank 0 died")));
    EXPECT_EQ(process_of(0, false), 0) << "a rank is left";
  }
  const Outcome alone = killed("mpirun -n 1 " + kPando + " run " + two("--steps 1000000000"), 0);
  EXPECT_NE(alone.status, 0);
  EXPECT_THAT(alone.text, ::testing::ContainsRegex("pando run: rank 0 died: device 1 in step [1-9][0-9]*, .*device 2 in step [1-9]"));
}

// The same program, with one byte more in a codelet file.
TEST_F(Command, ranks_of_another_build_are_rejected) {
  const std::filesystem::path lib = build_path("lib");
  std::filesystem::create_directories(path("lib"));
  for (const auto& file : std::filesystem::directory_iterator(lib)) {
    if (file.path().extension() != ".a") std::filesystem::create_symlink(file.path(), path("lib/" + file.path().filename().string()));
  }
  const std::string of_copies = "env LD_LIBRARY_PATH=" + path("lib") + ' ' + kPando + " run " + two("");
  const auto together = [&] { return sh("mpirun --oversubscribe -n 1 " + kPando + " run " + two("") + " : -n 1 " + of_copies); };
  const Outcome same = together();
  EXPECT_EQ(same.status, 0) << same.text;
  std::filesystem::remove(path("lib/popops.gp"));
  std::ofstream(path("lib/popops.gp"), std::ios::binary) << contents(lib / "popops.gp") << '\0';
  const Outcome other = together();
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.text, HasSubstr("pando run: rank 1 is of another build than rank 0"));
}

TEST_F(Command, a_profile_is_the_report_of_a_step) {
  const std::string one = path("mlp.txt") + " --seed 1 --quiet --steps 3 --device ipu_model --tiles 16 --profile ";
  ASSERT_EQ(sh(kPando + " run " + one + path("run.pando")).status, 0);
  const Outcome runs = sh(kPando + " report " + path("run.pando") + " --ask runs --ask slowest_steps");
  EXPECT_EQ(runs.status, 0) << runs.text;
  EXPECT_THAT(runs.text, HasSubstr("compute"));
  // Of several devices one each, and one of all.
  const Outcome several = sh(kPando + " run " + two("--device ipu_model --tiles 16 --profile " + path("both.pando")));
  ASSERT_EQ(several.status, 0) << several.text;
  for (const char* file : {"both.1.pando", "both.2.pando"})
    EXPECT_THAT(sh(kPando + " report " + path(file)).text, HasSubstr("16 tiles")) << file;
  const Outcome all = sh(kPando + " report " + path("both.pando") + " --ask schedule --ask messages --ask placement");
  EXPECT_EQ(all.status, 0) << all.text;
  for (const char* part : {"device 1", "device 2", "bubbles", "us_each", "variable"}) EXPECT_THAT(all.text, HasSubstr(part));
  EXPECT_FALSE(std::filesystem::exists(path("summary.txt")));
}

TEST_F(Command, a_program_that_does_not_fit_has_a_profile) {
  ASSERT_EQ(sh(kPando + " model mlp --layers 2 --width 256 --batch 8 --learning-rate 0.5 -o " + path("large.txt")).status, 0);
  const Outcome o =
      sh(kPando + " run " + path("large.txt") + " --seed 1 --quiet --device ipu_model --tiles 1 --profile " + path("out.pando"));
  EXPECT_NE(o.status, 0);
  EXPECT_THAT(o.text, HasSubstr("[out-of-memory]"));
  EXPECT_THAT(o.text, HasSubstr("out.pando"));
  const Outcome why = sh(kPando + " report " + path("out.pando") + " --ask why_not_fit");
  EXPECT_EQ(why.status, 0) << why.text;
  EXPECT_THAT(why.text, HasSubstr("fits        false"));
  const Outcome nowhere = sh(kPando + " run " + path("mlp.txt") + " --seed 1 --quiet --profile " + path("no/run.pando"));
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.text, HasSubstr("cannot write"));
}

TEST_F(Command, executables_are_those_of_an_earlier_run) {
  const std::string wanted = " --executables " + path("hashes");
  EXPECT_EQ(sh(kPando + " run " + two("") + wanted).status, 0);
  EXPECT_THAT(contents(path("hashes")), ::testing::MatchesRegex("1 [0-9a-f]{16}\n2 [0-9a-f]{16}\n"));
  const Outcome again = sh(kPando + " run --ranks 2 " + two("") + wanted);
  EXPECT_EQ(again.status, 0) << again.text;
  std::string hashes = contents(path("hashes"));
  char& digit = hashes[hashes.find("\n2 ") + 3];
  digit = digit == '0' ? '1' : '0';
  std::ofstream(path("hashes")) << hashes;
  const Outcome other = sh(kPando + " run --ranks 2 " + two("") + wanted);
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.text, HasSubstr("pando run: rank 1 has compiled another executable for device 2 than the one that is wanted"));
}

TEST_F(Command, what_is_wrong_is_said_once_and_no_rank_waits) {
  const Outcome other =
      sh("mpirun --oversubscribe -n 1 " + kPando + " run " + two("") + " : -n 1 " + kPando + " run " + two("--capacity 4"));
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.text, HasSubstr("pando run: rank 1 would run another program than rank 0"));
  const Outcome missing =
      sh("mpirun --oversubscribe -n 1 " + kPando + " run " + two("") + " : -n 1 " + kPando + " run " + path("nothing.txt"));
  EXPECT_NE(missing.status, 0);
  EXPECT_THAT(missing.text, HasSubstr("pando run: rank 1: cannot read"));
  const Outcome many = sh(kPando + " run --ranks 3 " + two(""));
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.text, HasSubstr("3 ranks for a program of 2 devices"));
  EXPECT_THAT(many.text, Not(HasSubstr("Segmentation")));
  // It is all that is said.
  EXPECT_EQ(many.text, "pando run: 3 ranks for a program of 2 devices; a rank holds one or more [too-many-ranks]\n");
  const Outcome nowhere = sh(kPando + " run " + two("--steps 1000000000 -o " + path("nowhere/a.npz")));
  EXPECT_EQ(nowhere.status, 2) << nowhere.text;
  EXPECT_THAT(nowhere.text, HasSubstr("cannot write " + path("nowhere/a.npz") + ": No such file or directory"));
  for (const std::string option : {"--input q=none.npy", "--zeros 'q'", "--zeros '*.q'"}) {
    const Outcome unknown = sh(kPando + " run " + two(option));
    EXPECT_EQ(unknown.status, 2) << option;
    EXPECT_THAT(unknown.text, HasSubstr("the program has no variable or stream of that name; it has ")) << option;
  }
}

// An mpirun that fails stands in for MPI's: it would be seen in the status.
TEST_F(Command, what_is_wrong_is_known_before_a_rank_starts) {
  std::filesystem::create_directories(path("bin"));
  std::ofstream(path("bin/mpirun")) << "#!/bin/sh\nexit 7\n";
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  // An array of objects, and one of a shape that no input has.
  const auto array = [&](const std::string& name, const std::string& type, const std::string& shape) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize(117, ' ');
    std::ofstream(path(name), std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n' << std::string(64, '\0');
  };
  array("objects.npy", "|O", "4,");
  array("shape.npy", "<f4", "4, 4");
  const std::string program = path("two.txt"), pieces = " --seed 1 --pieces " + path("pieces.json");
  const std::map<std::string, std::string> wrong{
      {program, "has no data: give it with --input"},
      {program + pieces + " --input x=" + path("shape.npy"), "'x' is an array of shape (4, 4); (8, 8) is wanted"},
      {program + pieces + " --input x=" + path("objects.npy"), "elements of type '|O'"},
      {program + " --seed 1 --device ipu_model --machine foo", "there is no machine 'foo'; known ones: "},
      {program + " --seed 1 --input x.1.m0=" + folder_, "cannot read " + folder_ + ": it is a folder"},
      {program + " --seed 1 -o " + path("nowhere/a.npz"), "cannot write " + path("nowhere/a.npz")}};
  for (const auto& [words, said] : wrong) {
    for (const char* ranks : {" run ", " run --ranks 2 "}) {
      const Outcome o = sh("PATH=" + path("bin") + ":$PATH " + kPando + ranks + words);
      EXPECT_EQ(o.status, 2) << ranks << words;
      EXPECT_THAT(o.text, HasSubstr(said)) << ranks << words;
      EXPECT_THAT(o.text, Not(HasSubstr("last operation"))) << ranks << words;
    }
  }
  const Outcome many = sh("PATH=" + path("bin") + ":$PATH " + kPando + " run --ranks 1024 " + two(""));
  EXPECT_EQ(many.status, 2);
  EXPECT_EQ(many.text, "pando run: 1024 ranks for a program of 2 devices; a rank holds one or more [too-many-ranks]\n");
}

// What mpirun hands on is looked at, too.
TEST_F(Command, output_of_ranks_arrives_or_it_is_said) {
  const std::string program = path("two.txt") + " --seed 1";
  const Outcome threads = sh(kPando + " run " + program), ranks = sh(kPando + " run --ranks 2 " + program);
  EXPECT_EQ(ranks.status, 0);
  EXPECT_EQ(ranks.text, threads.text);
  EXPECT_THAT(ranks.text, HasSubstr("output l =\n"));
  for (const char* run : {" run ", " run --ranks 2 "}) {
    const Outcome full = sh('(' + kPando + run + program + " >/dev/full)");
    EXPECT_EQ(full.status, 2) << run;
    EXPECT_THAT(full.text, HasSubstr("pando run: cannot write to standard output: No space left on device\n")) << run;
  }
  const Outcome results = sh(kPando + " run --ranks 2 --quiet -o /dev/full " + program);
  EXPECT_EQ(results.status, 1);
  EXPECT_THAT(results.text, HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST_F(Command, arrays_that_nobody_reads_are_said) {
  ASSERT_EQ(sh(kPando + " run " + two("-o " + path("all.npz"))).status, 0);
  const std::string pieces = " --pieces " + path("pieces.json");
  // What a run has written goes into the next one, with its outputs.
  for (const char* run : {" run ", " run --ranks 2 "}) {
    const Outcome again = sh(kPando + run + path("two.txt") + " --quiet --input " + path("all.npz"));
    EXPECT_EQ(again.status, 0) << again.text;
    EXPECT_EQ(again.text, "");
    // Arrays by the sequential program's names are the others.
    const Outcome others = sh(kPando + run + two("--input " + path("all.npz")) + pieces);
    EXPECT_EQ(others.status, 0) << others.text;
    EXPECT_EQ(others.text, "");
  }
  ASSERT_EQ(sh(kPando + " run " + path("mlp.txt") + " --seed 1 --quiet -o " + path("whole.npz")).status, 0);
  EXPECT_EQ(sh(kPando + " run " + path("two.txt") + " --quiet" + pieces + " --input " + path("whole.npz")).text, "");
  const Outcome none = sh(kPando + " run " + two("--input " + path("whole.npz")));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.text, HasSubstr("--input " + path("whole.npz") + ": its arrays, n, "));
  EXPECT_THAT(none.text, HasSubstr(", are not variables or streams of the program, which has n.2, "));
  ASSERT_EQ(sh(kPando + " model mlp --layers 2 --width 8 --batch 8 -o " + path("small.txt")).status, 0);
  for (const char* run : {" run ", " run --ranks 1 "}) {
    const Outcome more = sh(kPando + run + path("small.txt") + " --quiet --input " + path("whole.npz"));
    EXPECT_EQ(more.status, 0) << more.text;
    EXPECT_EQ(more.text, "pando run: warning: --input " + path("whole.npz") + ": the program has no variable or stream w2, w3: not read\n");
  }
}

TEST_F(Command, pieces_of_another_program_are_rejected) {
  ASSERT_EQ(sh(kPando + " transform " + path("mlp.txt") + " --batch x,z --data 2 --pieces " + path("data.json") + " -o " + path("data.txt"))
                .status,
            0);
  const Outcome names = sh(kPando + " run " + two("--pieces " + path("data.json")));
  EXPECT_EQ(names.status, 2);
  EXPECT_EQ(names.text,
            "pando run: " + path("data.json") + ": 'x.1' is a variable of another program: this one has none of that name [pieces]\n");
  const Outcome projected = sh("echo 'project strict' >" + path("p.txt") + "; " + kPando + " run " + path("p.txt") +
                               " --samples 1 --pieces " + path("data.json"));
  EXPECT_EQ(projected.status, 2);
  EXPECT_THAT(projected.text, HasSubstr("--pieces is for what pando transform writes; " + path("p.txt") + " is a projected program"));
  // An output's place outside of the whole.
  std::string text = contents(path("pieces.json"));
  const std::size_t outputs = text.find("\"outputs\""), start = text.find("\"start\": [", outputs);
  text.insert(text.find('[', start) + 1, "9223372036854775807, ");
  std::ofstream(path("far.json")) << text;
  EXPECT_EQ(sh(kPando + " run " + two("--pieces " + path("far.json"))).status, 2);
  const std::size_t zero = text.find("9223372036854775807, ");
  text.erase(zero, 21);
  text.replace(text.find('0', zero), 1, "9223372036854775807");
  std::ofstream(path("far.json")) << text;
  const Outcome far = sh(kPando + " run " + two("--pieces " + path("far.json")));
  EXPECT_EQ(far.status, 2);
  EXPECT_THAT(far.text, HasSubstr(path("far.json") + ": "));
  EXPECT_THAT(far.text, HasSubstr("is not a piece of a tensor of shape (8, 8) [pieces]"));
  // A whole that is larger than its pieces.
  std::string large = contents(path("pieces.json"));
  large.insert(large.find('8', large.find("\"x\"")) + 1, "8");
  std::ofstream(path("large.json")) << large;
  const Outcome missing = sh(kPando + " run " + two("--pieces " + path("large.json")));
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.text, "pando run: " + path("large.json") + ": 'x' is a tensor of shape (88, 8); its pieces end at (8, 8) [pieces]\n");
}

TEST_F(Command, what_a_terminal_would_obey_is_escaped) {
  const std::string bad = path(
      "no\x1b[31m\x07"
      "file");
  for (const std::string words : {"run '" + bad + "'", "run " + path("two.txt") + " --seed '\x1b[1m'", "measure program '" + bad + "'"}) {
    const Outcome o = sh(kPando + ' ' + words);
    EXPECT_EQ(o.status, 2) << words;
    EXPECT_THAT(o.text, HasSubstr("\\x1b[")) << words;
    EXPECT_THAT(o.text, Not(HasSubstr("\x1b"))) << words;
  }
}

TEST_F(Command, hashes_of_executables_are_whole_lines) {
  for (const std::string text : {"1 00\n2\n", "1 xyz\n", "1 00 2\n", "\n", ""}) {
    std::ofstream(path("hashes")) << text;
    const Outcome o = sh(kPando + " run " + two("--executables " + path("hashes")));
    EXPECT_EQ(o.status, 2) << text;
    EXPECT_THAT(o.text, HasSubstr("pando run: " + path("hashes"))) << text;
  }
  const Outcome nowhere = sh(kPando + " run " + two("--executables " + path("nowhere/hashes")));
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.text, HasSubstr("cannot write " + path("nowhere/hashes") + ": No such file or directory"));
}

// Inodes of sockets that listen in this process' network, but on the loopback address alone.
std::set<std::string> listening_to_others() {
  std::set<std::string> inodes;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, skip, inode;
      words >> number >> local >> remote >> state >> skip >> skip >> skip >> skip >> skip >> inode;
      if (state == "0A" && !local.starts_with("0100007F:") && !local.starts_with("00000000000000000000000001000000:"))
        inodes.insert("socket:[" + inode + "]");
    }
  }
  return inodes;
}

std::vector<std::string> left_in(const std::string& folder, const std::string& of) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename(); name.find(of) != std::string::npos) names.push_back(name);
  return names;
}

// However the run ends: no processes, no files, no shared memory; and while it runs, nothing listens to other hosts.
TEST_F(Command, ranks_end_with_who_started_them_and_leave_nothing) {
  std::filesystem::create_directory(path("temporary"));
  setenv("TMPDIR", path("temporary").c_str(), 1);
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    const pid_t run = start({kPando, "run", "--ranks=2"});
    EXPECT_EQ(left_in(path("temporary"), "pando-process").size(), 1u);
    const std::set<std::string> listening = listening_to_others();
    for (const std::string of : {"pando-run", "mpirun"}) {
      for (const pid_t process : processes(of)) {
        std::error_code gone;
        for (const auto& fd : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone))
          EXPECT_FALSE(listening.contains(std::filesystem::read_symlink(fd.path(), gone))) << of << " listens";
      }
    }
    // One that is stopped, too.
    if (signal == SIGKILL) kill(process_of(1, false), SIGSTOP);
    kill(run, signal);
    int status = 0;
    waitpid(run, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_TRUE(all_end_within(8s)) << signal;
    EXPECT_THAT(left_in(path("temporary"), ""), ::testing::IsEmpty()) << signal;
    EXPECT_THAT(left_in("/dev/shm", "pando-process-" + std::to_string(run)), ::testing::IsEmpty()) << signal;
  }
  unsetenv("TMPDIR");
}

TEST_F(Command, a_full_folder_for_temporary_files_is_an_error) {
  if (sh("unshare -m true").status != 0) GTEST_SKIP() << "no file systems of its own";
  std::filesystem::create_directory(path("full"));
  const Outcome o =
      sh("unshare -m bash -c \"mount -t tmpfs -o size=64k tmpfs " + path("full") + "; head -c 63488 /dev/zero > " + path("full/x") +
         "; TMPDIR=" + path("full") + " " + kPando + " run --ranks 2 " + two("") + "; echo status \\$?; ls " + path("full") + "\"");
  EXPECT_THAT(o.text, HasSubstr("pando run: cannot write " + path("full/pando-process-")));
  EXPECT_THAT(o.text, HasSubstr("No space left on device"));
  EXPECT_THAT(o.text, ::testing::EndsWith("status 2\nx\n"));
}

// Before MPI is up, and in the middle of the run.
TEST_F(Command, a_rank_that_never_comes_or_is_stopped_ends_the_run) {
  std::filesystem::create_directories(path("bin"));
  std::string real = sh("command -v mpirun").text;
  real.pop_back();
  std::ofstream(path("bin/mpirun")) << "#!/bin/bash\nexec " << real << " --oversubscribe --bind-to none -n 1 \"${@:6}\" : -n 1 sleep 100\n";
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome o = sh("PATH=" + path("bin") + ":$PATH " + kPando + " run --ranks 2 --timeout 3 " + two(""));
  EXPECT_NE(o.status, 0);
  EXPECT_THAT(o.text, HasSubstr("has not come within 3 s (--timeout)"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_TRUE(all_end_within(5s));
  const pid_t run = start({kPando, "run", "--ranks=2", "--timeout=3"});
  kill(process_of(1, false), SIGSTOP);
  const auto stopped = std::chrono::steady_clock::now();
  int status = 0;
  waitpid(run, &status, 0);
  EXPECT_NE(status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - stopped, 30s);
  EXPECT_TRUE(all_end_within(5s));
}

TEST_F(Command, ranks_end_with_their_mpirun) {
  const pid_t run = start({kPando, "run", "--ranks=2"});
  for (const pid_t mpirun : processes("mpirun")) kill(mpirun, SIGKILL);
  int status = 0;
  waitpid(run, &status, 0);
  EXPECT_NE(status, 0);
  EXPECT_TRUE(all_end_within(5s));
  const pid_t bare = start({"mpirun", "--oversubscribe", "-n", "2", kPando, "run"});
  kill(bare, SIGKILL);
  waitpid(bare, &status, 0);
  EXPECT_TRUE(all_end_within(5s));
}

TEST_F(Command, options_that_would_not_count_are_rejected) {
  for (const auto& [option, said] : {std::pair{"--timeout nan", "'nan': a number of 0 or more is expected"},
                                     {"--seed -1", "'-1': a whole number from 0 to 18446744073709551615 is expected"},
                                     {"--seed 18446744073709551616", "'18446744073709551616': a whole number from 0 to"},
                                     {"--seed 010", "'010': a whole number from 0 to"},
                                     {"--steps 010", "'010': a whole number from 1 to"},
                                     {"--ranks -1", "'-1': a whole number from 1 to 1024 is expected"},
                                     {"--threads 0x2", "'0x2': a whole number from 1 to 1024 is expected"},
                                     {"--tiles 4", "--tiles: it takes --device ipu_model"},
                                     {"--machine ipu2", "--machine: it takes --device ipu_model"}}) {
    const Outcome o = sh(kPando + " run " + two(option));
    EXPECT_EQ(o.status, 2) << option;
    EXPECT_THAT(o.text, HasSubstr(said)) << option;
  }
  std::ofstream(path("projected.txt")) << "project strict\n";
  const Outcome o = sh(kPando + " run " + path("projected.txt") + " --samples 2 --steps 2");
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.text, HasSubstr("--steps is for modules; a program of pando pipeline runs --samples"));
}

TEST_F(Command, an_mpirun_that_fails_without_a_word_is_named) {
  std::filesystem::create_directories(path("bin"));
  std::ofstream(path("bin/mpirun")) << "#!/bin/sh\nexit 7\n";
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  const Outcome o = sh("PATH=" + path("bin") + ":$PATH " + kPando + " run --ranks 2 " + two(""));
  EXPECT_EQ(o.status, 7);
  EXPECT_EQ(o.text, "pando run: " + path("bin/mpirun") +
                        " failed before a rank could say why; OMPI_MCA_orte_execute_quiet=0 shows its own words\n");
}

}  // namespace
}  // namespace pando::ranks
