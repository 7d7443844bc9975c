// NCCL's wire protocols.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace foretrain {

/// The protocols. LL: 8 bytes of data with 8 bytes of flags. LL128: 120 and 8 bytes; needs NVLink. Simple:
/// whole chunks with fences.
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array<Protocol, 3> kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};

/// Returns "LL", "LL128" or "Simple".
std::string_view name_of(Protocol protocol);

}  // namespace foretrain
