// A version of NCCL; its tables, searches and channel rules changed with nearly every one.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain::nccl {

/// A version of NCCL. Versions are ordered, and constants change at listed versions.
struct Version {
  int major = 2, minor = 20, patch = 5;  ///< what PyTorch 2.3 and 2.4 bring along
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// The oldest and the newest whose constants are known here (docs/sources/nccl_tuning.md). Others behave as
/// the nearer one.
inline constexpr Version kOldestKnown{2, 5, 6}, kNewestKnown{2, 30, 7};

/// From here on a kernel's work is handed over in one batch, before channel by channel.
inline constexpr Version kWorkInOneBatch{2, 10, 0};
/// From here on each warp of a block sends to or receives from another peer; before a block served one after
/// the other, the rank itself among them.
inline constexpr Version kPeerOfEachWarp{2, 8, 0};

/// From here on a rank has one proxy thread for all channels, before one for each.
inline constexpr Version kOneProxyThread{2, 4, 0};
/// From here on a channel may have several TCP connections, served by threads of their own.
inline constexpr Version kSocketThreads{2, 4, 8};

/// From here on odd nodes swap the rings of each pair.
inline constexpr Version kSwapsRingPairs{2, 22, 0};

/// "2.18", "2.18.3", "2.18.3-1", "2.26.x"; a patch that is not given is the newest of its series (99).
/// Nothing when it is no version.
std::optional<Version> parse_version(std::string_view text);

/// "2.18.3"; "2.26" where the patch was not given.
std::string to_text(const Version& version);

}  // namespace foretrain::nccl
