// Runs scripts on tiles, each on interpreters that know nothing, and writes what the tiles said.
//
//   ontile_scripts --tiles 4 --jobs JOBS --out FILE [--fuel ROUNDS]
//
// A line of JOBS is NAME <tab> SCRIPT <tab> BEFORE: two files, the second one (which may be missing) is run first and must be silent.
// FILE gets, for each job, `job NAME GROUPS`, and for each distinct answer `group ENDING TILES BYTES` and its bytes.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "ontile/session.h"

namespace {

using pando::ontile::Ending;
using pando::ontile::Reply;
using pando::ontile::Session;
using pando::ontile::SessionOptions;

struct Job {
  std::string name, script, before;
};

[[noreturn]] void fail(const std::string& text) {
  std::cerr << "ontile_scripts: " << text << "\n";
  std::exit(2);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Job> read_jobs(const std::string& path) {
  std::istringstream lines(read(path));
  std::vector<Job> jobs;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Job job;
    std::getline(fields, job.name, '\t');
    std::getline(fields, job.script, '\t');
    std::getline(fields, job.before, '\t');
    jobs.push_back(job);
  }
  return jobs;
}

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::done: return "done";
    case Ending::raised: return "raised";
    case Ending::exited: return "exited";
    case Ending::ended: return "ended";
    case Ending::skipped: return "skipped";
  }
  return "";
}

void write(std::ostream& out, const std::string& name, const Reply& reply) {
  std::map<std::pair<std::uint32_t, Ending>, unsigned> groups;
  for (const auto& answer : reply.answers) ++groups[{answer.text, answer.ending}];
  out << "job " << name << " " << groups.size() << "\n";
  for (const auto& [group, tiles] : groups) {
    const std::string& text = reply.texts[group.first];
    out << "group " << name_of(group.second) << " " << tiles << " " << text.size() << "\n" << text << "\n";
  }
  out.flush();
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

int main(int argc, char** argv) {
  SessionOptions options;
  options.tiles = 4;
  options.counted_clock = true;
  std::string jobs, out_path;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--tiles")
      options.tiles = static_cast<unsigned>(std::stoul(value));
    else if (option == "--fuel")
      options.fuel = std::stoull(value);
    else if (option == "--jobs")
      jobs = value;
    else if (option == "--out")
      out_path = value;
    else
      fail("unknown option " + option);
  }
  if (jobs.empty() || out_path.empty()) fail("usage: --jobs JOBS --out FILE [--tiles N] [--fuel ROUNDS]");
  std::ofstream out(out_path, std::ios::binary);
  Session session(options);
  std::vector<unsigned> all(session.tiles());
  std::iota(all.begin(), all.end(), 0u);
  for (const Job& job : read_jobs(jobs)) {
    if (!job.before.empty()) {
      const Reply reply = session.run(read(job.before), Session::Input::script, "before");
      if (reply.texts != std::vector<std::string>{""}) fail(job.name + ": " + job.before + " says: " + reply.texts.front());
    }
    write(out, job.name, session.run(read(job.script), Session::Input::script, base_name(job.script)));
    session.reset(all);
  }
}
