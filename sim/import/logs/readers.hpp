// The readers behind the rows of the catalog; each is described where it is defined.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

bool is_measurement_csv(std::string_view text);
void read_measurement_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nccl_tests(std::string_view text);
void read_nccl_tests(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nccl_tests_json(std::string_view text);
void read_nccl_tests_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nvbandwidth(std::string_view text);
void read_nvbandwidth(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nvbandwidth_json(std::string_view text);
void read_nvbandwidth_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_peer_matrices(std::string_view text);
void read_peer_matrices(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_bandwidth_test(std::string_view text);
void read_bandwidth_test(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_perftest(std::string_view text);
void read_perftest(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_osu(std::string_view text);
void read_osu(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_param_comms(std::string_view text);
void read_param_comms(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_all_reduce_bench(std::string_view text);
void read_all_reduce_bench(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_training_csv(std::string_view text);
void read_training_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_training_log(std::string_view text);
void read_training_log(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

bool is_nvidia_smi_xml(std::string_view text);
void read_nvidia_smi_xml(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

// The formats of measurements that are read: one row each; the name of a file never counts, only what it
// holds.

/// Alone: nothing else is looked for in the file. Mixed: several may stand in one text. Last: only where none
/// of the others is.
enum class LogPlace : std::uint8_t { alone, mixed, last };

/// A format of logs: how it is recognised and who reads it.
struct LogFormat {
  std::string_view name;
  std::string_view what;  ///< one line for people
  LogPlace place = LogPlace::mixed;
  /// Whether a text holds something of this format; looks for its table headers.
  bool (*recognises)(std::string_view text) = nullptr;
  /// Puts every measurement into the sheet and every one that cannot be, with the reason. Wrong user input:
  /// throws InputError.
  void (*read)(const SourceText& source, const LogHints& hints, SampleSheet& sheet) = nullptr;
};

const std::vector<LogFormat>& log_formats();

}  // namespace foretrain
