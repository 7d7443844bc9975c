// A progress line on the terminal for work that takes over a second.
#pragma once

#include <chrono>
#include <string>

namespace foretrain {

/// Writes to standard error when that is a terminal, at most ten times a second, and only after the first
/// second.
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& what);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// `done` in 0..1; `beside`: what else there is to say.
  void show(double done, const std::string& beside = "");
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  bool on_terminal_;
  bool shown_ = false;
};

}  // namespace foretrain
