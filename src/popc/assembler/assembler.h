// Text to code: directives, macros, labels, bundles. Faults are collected, each with its place.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "popc/assembler/code/code.h"
#include "popc/assembler/text/macros.h"
#include "popc/assembler/text/statements.h"

namespace pando::popc {

class Assembler {
 public:
  explicit Assembler(std::string file);

  // Macros and constants of another text, which came before.
  void inherit(const Assembler& other);
  // The end of the code so far, in its section.
  std::uint32_t end() const { return ends_.contains(current_) ? ends_.at(current_) : 0; }
  // May be called several times: what a text defines, later ones know.
  void add(std::string_view text, SourcePlace place);
  // Labels and expressions get their values, operands are checked.
  AssemblyUnit finish();
  // "FILE:LINE: what", in the order of the text.
  std::vector<std::string> errors() const;

 private:
  struct Condition {
    bool holds = false, held_before = false, outer = true;
  };
  struct OpenBundle {
    bool is_open = false, has_fault = false;
    SourcePlace place;
    std::vector<AssemblyInstruction> instructions;
  };

  void run(const std::vector<Statement>& statements, unsigned depth);
  std::size_t collect_body(const std::vector<Statement>& all, std::size_t begin, std::vector<Statement>& body, const char* opens,
                           const char* closes);
  void statement(const Statement& s, unsigned depth);
  bool conditional(const std::string& name, const std::string& rest);
  std::string take_labels(const Statement& s);
  void define_label(const std::string& name, const SourcePlace& place);
  void directive(const Statement& s, const std::string& name, const std::string& rest);
  bool data_directive(const Statement& s, const std::string& name, const std::string& rest);
  void enter_section(const std::string& name);
  void align(std::uint64_t to);
  void instruction(const Statement& s, const std::string& name, const std::string& rest);
  void load_constant(const Statement& s, AssemblyInstruction whole);
  void append(std::vector<AssemblyInstruction> instructions);
  void open_bundle(const Statement& s);
  void close_bundle(const Statement& s);
  std::string unique_local_labels(const std::string& expression) const;
  AssemblyValue value_of(const std::string& expression);
  AssemblyValue look_up(const std::string& name, bool is_complete);
  std::int64_t number_of(const std::string& expression);
  bool truth_of(const std::string& name, const std::string& rest);
  void finish_instruction(AssemblyInstruction& i);
  void check_repeats(const CodeSection& section);
  void report(const SourcePlace& place, const std::string& what);
  CodeSection& section() { return unit_.sections[current_]; }

  AssemblyUnit unit_;
  std::size_t current_ = 0;
  std::map<std::size_t, std::uint32_t> ends_;  // of sections: where the next item goes
  std::map<std::string, Macro> macros_;
  std::map<std::string, std::string> late_;       // .set and .equ whose value is not known yet
  std::map<std::string, unsigned> local_counts_;  // of 1:, 2: ...
  std::set<std::string> globals_, evaluating_;
  std::vector<Condition> conditions_;
  OpenBundle bundle_;
  unsigned expansions_ = 0;
  bool is_supervisor_ = false, swaps_ = false, ended_ = false;
  struct Fault {
    SourcePlace place;
    std::string text;
  };
  std::vector<Fault> faults_;
  std::set<std::string> reported_;
};

}  // namespace pando::popc
