// Draws the progress line with a carriage return and "erase to end of line", so that nothing remains on the
// terminal.
#include "sim/app/progress_line.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/held_output.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

ProgressLine::ProgressLine(const std::string& what)
    : what_(printable(what)), on_terminal_(is_terminal(STDERR_FILENO)) {}

// \x1b[K erases the rest of the line, since the last text may have been longer.
void ProgressLine::show(double done, const std::string& beside) {
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  // Short work shows nothing, and drawing ten times a second costs no noticeable time.
  if (!on_terminal_ || now - start_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  shown_ = true;
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * 30);
  fmt::print(stderr, "\r\x1b[K{} [{:<30}] {:3.0f} %{}{}", what_,
             std::string(static_cast<std::size_t>(filled), '='), 100 * done, beside.empty() ? "" : "  ",
             beside);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace foretrain
