// Keys of FSDP inside other tools' files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/import/settings/reading.hpp"

namespace foretrain {

/// Reads accelerate's keys below `above` ("fsdp_config." or nothing), with "fsdp_" before each name or not;
/// chooses fsdp or fsdp2.
void read_fsdp_keys(SettingsReading& reading, const std::string& above);

/// Of the key found last, a type of the parameters or of the sums as PyTorch spells it ("bfloat16"). False:
/// not known. (fsdp_policy.cpp)
bool put_fsdp_param_type(SettingsReading& reading, std::string_view word);
bool put_fsdp_reduce_type(SettingsReading& reading, std::string_view word);
/// Of a type that is none: a file is wrong; in a program it may be a value of the run.
enum class UnexpectedType : std::uint8_t { mistake, open };
/// param_dtype, reduce_dtype and the other keys of MixedPrecision and MixedPrecisionPolicy below `above`.
void read_fsdp_policy(SettingsReading& reading, const std::string& above, UnexpectedType odd);
/// The same of an argument whose value is a call of one of them.
void read_fsdp_policy_argument(SettingsReading& reading, const std::string& path);

}  // namespace foretrain
