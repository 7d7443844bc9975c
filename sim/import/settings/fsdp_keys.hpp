// Declares the reading of FSDP's keys inside other tools' files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads accelerate's keys below `above` ("fsdp_config." or ""), with "fsdp_" before each name or not, and
/// chooses fsdp or fsdp2.
void read_fsdp_keys(SettingsReading& reading, const std::string& above);

/// Tells the effect of the key found last, a type of the parameters as PyTorch spells it ("bfloat16").
/// Returns false for an unknown type. The next function does the same for the type of the sums.
/// (fsdp_policy.cpp)
bool put_fsdp_param_type(SettingsReading& reading, std::string_view word);
bool put_fsdp_reduce_type(SettingsReading& reading, std::string_view word);
/// The treatment of a value that is no type: in a file it is a mistake; in a program it may be a value of the
/// run, so it stays open.
enum class UnexpectedType : std::uint8_t { mistake, open };
/// Reads param_dtype, reduce_dtype and the other keys of MixedPrecision and MixedPrecisionPolicy below
/// `above`.
void read_fsdp_policy(SettingsReading& reading, const std::string& above, UnexpectedType odd);
/// Reads the same of an argument whose value is a call of one of these classes.
void read_fsdp_policy_argument(SettingsReading& reading, const std::string& path);

}  // namespace foretrain
