// Calls that take seconds or hours: Python's signal handlers run meanwhile, and what one raises, as KeyboardInterrupt, ends the call.
#pragma once

#include <functional>

namespace pando::python {

// Does `work` without the interpreter's lock. On Python's main thread, which is the one that handles signals, another thread works, and
// this one looks for signals twenty times a second. When a handler raises, `stop` is called, again and again, until the work has ended;
// then the handler's exception is thrown, whatever became of the work. The caller holds the lock.
void interruptibly(const std::function<void()>& work, const std::function<void()>& stop);

// The same for what looks at check_stop() (base/process/stop.h): compilers and searches.
void interruptibly(const std::function<void()>& work);

}  // namespace pando::python
