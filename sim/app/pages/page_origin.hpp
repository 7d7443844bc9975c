// How a page says it was made: the command line as it could be typed again, and the day.
#pragma once

#include <string>

namespace foretrain {

/// With quotes around words that a shell would take apart.
std::string command_text(int argc, char** argv);

/// "foretrain 0.5.0, catalogs of 2026-11-28"; in a source tree, whose catalogs are of today, without a day.
std::string version_text();

/// "2026-11-23", of SOURCE_DATE_EPOCH where that is set.
std::string date_of_today();

}  // namespace foretrain
