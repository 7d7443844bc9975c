// One line on the terminal: what is measured, how far it is, how much of the budget is left.
#pragma once

#include <string_view>

namespace foretrain::micro {

/// Writes to standard error when that is a terminal; otherwise nothing.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::string_view family, int done, int points, double seconds_left);
  void clear();

 private:
  bool on_terminal_;
  bool is_shown_ = false;
};

}  // namespace foretrain::micro
