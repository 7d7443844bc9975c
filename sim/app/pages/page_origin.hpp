// The origin that a page states: the command line as it could be typed again, the version, and the day.
#pragma once

#include <string>

namespace foretrain {

/// Returns the command line, with quotes around words that a shell would split.
std::string command_text(int argc, char** argv);

/// Returns "foretrain 0.5.0, catalogs of 2026-11-28". In a source tree, whose catalogs have no date, the
/// second half is left out.
std::string version_text();

/// Returns the day as "2026-11-23" (UTC), or the day of SOURCE_DATE_EPOCH when that is set.
std::string date_of_today();

}  // namespace foretrain
