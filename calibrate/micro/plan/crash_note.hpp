// A library that crashes ends the program without a word; this is the word.
#pragma once

#include <string_view>

namespace foretrain::micro {

/// While it lives, a fault that ends the program (a segmentation fault, an abort) first says on standard
/// error what was being done. One at a time.
class CrashNote {
 public:
  CrashNote();
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
  void doing(std::string_view what);
};

}  // namespace foretrain::micro
