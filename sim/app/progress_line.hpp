// A progress line on the terminal for work that takes longer than a second.
#pragma once

#include <chrono>
#include <string>

namespace foretrain {

/// Draws to standard error when that is a terminal, at most ten times a second, and only after the first
/// second. The line is erased when the object is destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& what);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Draws the line when it is due. `done` is the finished fraction in 0..1; `beside` is text behind the bar.
  void show(double done, const std::string& beside = "");
  /// Erases the line.
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
