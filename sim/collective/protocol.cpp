// Names as NCCL_PROTO takes them.
#include "sim/collective/protocol.hpp"

namespace foretrain {

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return "LL";
    case Protocol::ll128:
      return "LL128";
    case Protocol::simple:
      return "Simple";
  }
  return {};
}

}  // namespace foretrain
