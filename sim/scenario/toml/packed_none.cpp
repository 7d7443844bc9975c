// The program without catalogs of its own: they are files beside it. The definition is alone in its object
// file, so that a program of one file links its own.
#include "sim/scenario/toml/packed_files.hpp"

namespace foretrain {

std::string_view packed_catalogs() { return {}; }

}  // namespace foretrain
