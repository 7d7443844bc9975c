// print(model) of PyTorch: modules within modules, each with its arguments; what forward() calls is not in
// it.
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

/// A module without others in it: "(conv1): Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1))".
struct PrintedModule {
  std::string name;       ///< "conv1"
  std::string type;       ///< "Conv2d"
  std::string arguments;  ///< what stands between its brackets
  int line = 0;
  /// The value behind "kernel_size=" or, without a name, the argument at this place; empty: not there.
  std::string_view argument(std::string_view name, int place = -1) const;
  /// Its first number, "2" of "(2, 2)"; nothing where there is none.
  std::optional<std::int64_t> number(std::string_view name, int place = -1) const;
};

/// The modules of the first printed model in a text, in its order, "12 x Block(" written out. Empty where
/// there is none. Reports what is cut or too large.
std::vector<PrintedModule> printed_modules(const SourceText& source, Diagnostics& diagnostics);

bool is_printed_model(std::string_view text);
ImportedModel read_printed_model(const SourceText& source, const ModelImportOptions& options,
                                 Diagnostics& diagnostics);

}  // namespace foretrain
