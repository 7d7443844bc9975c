// Runs work in a process of its own with limits of time and memory, so that it cannot end a server.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace foretrain {

/// CPU seconds that the process may take.
inline constexpr int kMostSecondsApart = 60;
/// Bytes of memory that the process may take.
inline constexpr std::size_t kMostMemoryApart = std::size_t{4} << 30;

/// Runs `work` in a process of its own and returns its result; empty when it failed or exceeded a limit. The
/// process has only the standard streams of this one, can write no file, and ends when this one does. Several
/// threads may call at the same time; all must pass the same `turn`, so that no process inherits another
/// one's pipe.
std::string done_apart(const std::function<std::string()>& work, std::mutex& turn);

/// Returns a sentence on why there is no result, with the limits.
std::string why_nothing_apart();

}  // namespace foretrain
