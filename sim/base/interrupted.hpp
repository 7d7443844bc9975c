// Somebody ended the program in the middle of its work.
#pragma once

#include <stdexcept>

namespace foretrain {

/// Exit code 130. Says what is there and how to go on.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace foretrain
