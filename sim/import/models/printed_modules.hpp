// Declares the reader of print(model) in PyTorch: modules within modules, each with its arguments. The
// printed text does not show what forward() calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/import/models/summary_rows.hpp"

namespace foretrain {

/// A module that contains no others: "(conv1): Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1))".
struct PrintedModule {
  /// Name within its parent, such as "conv1"; at most 100 bytes.
  std::string name;
  /// Class, such as "Conv2d".
  std::string type;
  /// Text between its brackets; at most 500 bytes.
  std::string arguments;
  /// Line of the source text, from 1.
  int line = 0;
  /// Returns the value behind "name=", otherwise the argument without a name at this place (from 0). Empty:
  /// not there.
  std::string_view argument(std::string_view name, int place = -1) const;
  /// Returns the first number of that value, 2 for "(2, 2)". Nothing where there is none, or it exceeds 1e9.
  std::optional<std::int64_t> number(std::string_view name, int place = -1) const;
};

/// Returns the modules of the first printed model in a text, in its order, with "12 x Block(" written out.
/// Empty where there is none. Reports a model that is cut, nested more than 100 levels, or has more than
/// 20,000 modules.
std::vector<PrintedModule> printed_modules(const SourceText& source, Diagnostics& diagnostics);

/// Returns whether a text contains a printed model.
bool is_printed_model(std::string_view text);
/// Reads a printed model, best effort. Requires --image for networks that take images; reports the first
/// module that does not fit the size before it.
ImportedModel read_printed_model(const SourceText& source, const ModelImportOptions& options,
                                 Diagnostics& diagnostics);

}  // namespace foretrain
