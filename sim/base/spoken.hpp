// Times and ranges as people say them: two or three digits, one unit where one is enough.
#pragma once

#include <string>

namespace foretrain {

/// "98 ms", "2.7 ms", "49 s", "2 min 27 s", "19 min", "4 h 10 min", "29 h", "4 d 13 h", "31 days". "0 s" for
/// what is not positive; "-" for what is not finite.
std::string spoken_duration(double seconds);

/// "27 to 32 h", "98 to 104 ms", "50 s to 2 min 10 s": the unit once where both have the same.
std::string spoken_range(double low_s, double high_s);

/// "3.8", "12", "1.05", "0.95": a factor with a digit behind the point, two below 1.1, none from ten on.
std::string spoken_factor(double factor);

/// "61,706", "25.6 M", "1.34 B": a number of things, three digits from a million on.
std::string spoken_count(double count);

/// "more than 99 %", "less than 1 %", "40 %": certainty is never claimed.
std::string spoken_chance(double probability);

/// The first letter as a capital.
std::string capitalized(std::string text);

}  // namespace foretrain
