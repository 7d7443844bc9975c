// What a fuzz target says must hold.
#pragma once

#include <cstdlib>

namespace foretrain::test {

inline void require(bool fact) {
  if (!fact) std::abort();
}

}  // namespace foretrain::test
