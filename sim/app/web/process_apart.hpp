// Work in a process of its own, with limits of time and memory, so that none can take a server with it.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace foretrain {

inline constexpr int kMostSecondsApart = 60;                           ///< of the process's processor time
inline constexpr std::size_t kMostMemoryApart = std::size_t{4} << 30;  ///< bytes

/// What `work` returns in a process of its own, which has the standard streams and nothing else of this one,
/// writes no file, and ends when this one does. Empty when it came to nothing. Several threads may call;
/// `turn` is theirs alone, so that none inherits the pipe of another's.
std::string done_apart(const std::function<std::string()>& work, std::mutex& turn);

/// Why it came to nothing, for people.
std::string why_nothing_apart();

}  // namespace foretrain
