// Where the evidence that comes with the program lies.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// The stores in the folder `evidence` of the first root of the catalogs that has one, sorted.
std::vector<std::string> shipped_evidence();

}  // namespace foretrain
