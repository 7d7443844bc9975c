// The current object of each thread is one thread-local pointer.
#include "sim/base/held_output.hpp"

#include <cassert>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

HeldOutput*& output_of_thread() {
  thread_local HeldOutput* held = nullptr;
  return held;
}

}  // namespace

HeldOutput::HeldOutput() {
  assert(output_of_thread() == nullptr);
  output_of_thread() = this;
}

HeldOutput::~HeldOutput() { output_of_thread() = nullptr; }

HeldOutput* HeldOutput::current() { return output_of_thread(); }

void write_message(std::string_view text) {
  if (HeldOutput* held = HeldOutput::current())
    held->messages += text;
  else
    std::fwrite(text.data(), 1, text.size(), stderr);
}

bool is_terminal(int descriptor) { return HeldOutput::current() == nullptr && ::isatty(descriptor) == 1; }

void need_own_process(std::string_view command) {
  if (HeldOutput::current() != nullptr)
    throw EnvironmentError(
        fmt::format("{} needs a process of its own: run the program instead of the library", command));
}

}  // namespace foretrain
