// Times, ranges and counts in words for people: two or three digits, and one unit where one is enough.
#pragma once

#include <string>

namespace foretrain {

/// Returns a duration: "98 ms", "2.7 ms", "49 s", "2 min 27 s", "19 min", "4 h 10 min", "29 h", "4 d 13 h",
/// "31 days". Values that are not positive give "0 s"; values that are not finite give "-".
std::string spoken_duration(double seconds);

/// Returns a range: "27 to 32 h", "98 to 104 ms", "50 s to 2 min 10 s". A unit that both have appears once.
std::string spoken_range(double low_s, double high_s);

/// Returns a factor: "3.8", "12", "1.05", "0.95". It has one digit after the point, two below 1.1, none from
/// 10 on.
std::string spoken_factor(double factor);

/// Returns a number of things: "61,706", "25.6 M", "1.34 B". It has three digits from a million on.
std::string spoken_count(double count);

/// Returns a probability: "more than 99 %", "less than 1 %", "40 %". Certainty is never claimed.
std::string spoken_chance(double probability);

/// Returns the text with a capital first letter.
std::string capitalized(std::string text);

}  // namespace foretrain
