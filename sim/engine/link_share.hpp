// A link on a route with the number of shares that the route takes of it.
#pragma once

#include <cstdint>

namespace foretrain {

/// A flow that stands for several equal ones takes one share of the link for each of them. A route that
/// crosses a link more than once also takes several shares.
struct LinkShare {
  std::uint32_t link = 0;
  std::uint32_t shares = 1;
};

}  // namespace foretrain
