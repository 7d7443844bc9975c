// The readers behind the rows of the catalog of logs.
// Each is_… says whether a text holds something of the format. Each read_… puts its measurements into the
// sheet; what cannot be used is skipped there with line and reason. The format is described at the top of the
// .cpp file.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

/// The CSV files of `validate`: collectives and training runs.
bool is_measurement_csv(std::string_view text);
void read_measurement_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// Tables of nccl-tests: times of collectives.
bool is_nccl_tests(std::string_view text);
void read_nccl_tests(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// The JSON that nccl-tests writes with -J.
bool is_nccl_tests_json(std::string_view text);
void read_nccl_tests_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// Matrices of nvbandwidth: copies between host and GPUs.
bool is_nvbandwidth(std::string_view text);
void read_nvbandwidth(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// The JSON of nvbandwidth -j.
bool is_nvbandwidth_json(std::string_view text);
void read_nvbandwidth_json(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// p2pBandwidthLatencyTest of the CUDA samples: copies between GPUs.
bool is_peer_matrices(std::string_view text);
void read_peer_matrices(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// bandwidthTest of the CUDA samples: copies between host and GPU.
bool is_bandwidth_test(std::string_view text);
void read_bandwidth_test(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// perftest (ib_write_bw and others): InfiniBand between two nodes.
bool is_perftest(std::string_view text);
void read_perftest(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// OSU micro-benchmarks: MPI between two processes, and collectives.
bool is_osu(std::string_view text);
void read_osu(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// Communication benchmarks of PARAM: collectives of PyTorch.
bool is_param_comms(std::string_view text);
void read_param_comms(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// all_reduce_bench.py: one large all-reduce of PyTorch.
bool is_all_reduce_bench(std::string_view text);
void read_all_reduce_bench(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// A CSV with a rate of training and its conditions in each row.
bool is_training_csv(std::string_view text);
void read_training_csv(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// Logs of training programs: lines with rates.
bool is_training_log(std::string_view text);
void read_training_log(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

/// nvidia-smi -q -x: facts about GPUs and driver, no measurements.
bool is_nvidia_smi_xml(std::string_view text);
void read_nvidia_smi_xml(const SourceText& source, const LogHints& hints, SampleSheet& sheet);

// The catalog has a row for each format of measurements. Formats are recognised by the content of a file,
// never by its name.

/// The way in which a format shares a file with others.
/// alone: no other format is looked for in the file. mixed: several such formats may stand in one text. last:
/// it is tried only where no other format was found.
enum class LogPlace : std::uint8_t { alone, mixed, last };

/// A format of logs: how it is recognised, and the function that reads it.
struct LogFormat {
  std::string_view name;
  /// Description in one line, for lists of formats.
  std::string_view what;
  LogPlace place = LogPlace::mixed;
  /// Says whether a text holds something of this format, usually by the headers of its tables.
  bool (*recognises)(std::string_view text) = nullptr;
  /// Puts every measurement into the sheet, and every one that cannot be used with its reason. Throws
  /// InputError only for files of foretrain's own CSV format that are wrong as a whole.
  void (*read)(const SourceText& source, const LogHints& hints, SampleSheet& sheet) = nullptr;
};

/// Returns all formats in the order in which they are tried.
const std::vector<LogFormat>& log_formats();

}  // namespace foretrain
