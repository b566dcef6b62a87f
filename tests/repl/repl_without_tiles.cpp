// `pando repl` over a machine of eight tiles that answers at once, for the tests of what terminals, pipes and programs see.
// Arguments: a word that says which face, as the options do.
#include <cstring>

#include "ontile/repl/front.h"
#include "ontile/repl/shell/fake_machine.h"

using namespace pando::ontile;

int main(int argc, char** argv) {
  FrontOptions options;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    if (std::strcmp(argv[at], "--json") == 0)
      options.json = true;
    else if (std::strcmp(argv[at], "-i") == 0)
      options.interactive = true;
    else if (std::strcmp(argv[at], "-c") == 0)
      options.code = argv[++at];
    else if (std::strcmp(argv[at], "--select") == 0)
      options.select = argv[++at];
  }
  options.arguments.assign(argv + at, argv + argc);
  FakeMachine machine(8);
  return run_front(options, read_script(options), machine);
}
