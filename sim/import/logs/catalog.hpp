// The formats of measurements that are read: one row each; the name of a file never counts, only what it
// holds.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

/// Alone: nothing else is looked for in the file. Mixed: several may stand in one text. Last: only where none
/// of the others is.
enum class LogPlace : std::uint8_t { alone, mixed, last };

struct LogFormat {
  std::string_view name;
  std::string_view what;  ///< one line for people
  LogPlace place = LogPlace::mixed;
  /// Whether a text holds something of this format; looks for its table headers.
  bool (*recognises)(std::string_view text) = nullptr;
  /// Puts every measurement into the sheet and every one that cannot be, with the reason. Wrong user input:
  /// throws InputError.
  void (*read)(const SourceText& source, const LogHints& hints, SampleSheet& sheet) = nullptr;
};

const std::vector<LogFormat>& log_formats();

}  // namespace foretrain
