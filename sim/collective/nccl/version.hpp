// A version of NCCL. Tables, searches and channel rules changed with nearly every version.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace foretrain::nccl {

/// A version of NCCL. Versions are ordered, and constants change at listed versions.
struct Version {
  /// The default is the version in PyTorch 2.3 and 2.4.
  int major = 2, minor = 20, patch = 5;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// The oldest and the newest version whose constants are known (docs/sources/nccl_tuning.md). Other versions
/// behave as the nearer one.
inline constexpr Version kOldestKnown{2, 5, 6}, kNewestKnown{2, 30, 7};

/// The first version that hands over a kernel's work in one batch; earlier ones do it channel by channel.
inline constexpr Version kWorkInOneBatch{2, 10, 0};
/// The first version in which each warp of a block sends to or receives from another peer. In earlier ones a
/// block served one peer after the other, with the rank itself among them.
inline constexpr Version kPeerOfEachWarp{2, 8, 0};

/// The first version in which a rank has one proxy thread for all channels; earlier ones have one for each
/// channel.
inline constexpr Version kOneProxyThread{2, 4, 0};
/// The first version in which a channel may have several TCP connections with threads of their own.
inline constexpr Version kSocketThreads{2, 4, 8};

/// The first version in which odd nodes exchange the rings of each pair.
inline constexpr Version kSwapsRingPairs{2, 22, 0};

/// Reads "2.18", "2.18.3", "2.18.3-1" or "2.26.x". A patch that is not given counts as the newest of its
/// series (99). Returns nothing if the text is no version.
std::optional<Version> parse_version(std::string_view text);

/// Returns "2.18.3", or "2.26" if the patch was not given.
std::string to_text(const Version& version);

}  // namespace foretrain::nccl
