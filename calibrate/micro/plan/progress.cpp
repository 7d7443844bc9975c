// A bar of 24 characters, drawn over itself.
#include "calibrate/micro/plan/progress.hpp"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace foretrain::micro {

Progress::Progress() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view family, int done, int points, double seconds_left) {
  constexpr int kWidth = 24;
  if (!on_terminal_ || points <= 0) return;
  const auto filled = static_cast<std::size_t>(kWidth * done / points);
  const std::string line =
      fmt::format("\r\033[K{:<10} [{}{}] {}/{}, at most {:.0f} s left", family, std::string(filled, '#'),
                  std::string(kWidth - filled, ' '), done, points, seconds_left);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  is_shown_ = true;
}

void Progress::clear() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
  is_shown_ = false;
}

}  // namespace foretrain::micro
