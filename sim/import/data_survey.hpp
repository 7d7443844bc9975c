// Looks over a data set on the disk: how many samples it has, how large they are, and in which format.
// It is a bounded look and no count: at most a limited number of entries and files is visited, links inside
// of a folder are not followed, and what cannot be read is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// The limits of one survey.
struct SurveyLimits {
  /// Entries of folders that are visited.
  std::size_t entries = 20'000;
  /// Files that are opened for their first bytes.
  std::size_t files = 200;
};

/// The result of a survey.
struct DataSurvey {
  /// Number of samples; an estimate where the walk was cut or for archives.
  std::int64_t samples = 0;
  /// Bytes of one sample as stored: the median.
  Bytes stored_bytes{};
  /// Time to decode one sample on one core of the reference CPU; an estimate by format and size.
  Time decode{};
  /// Standard deviation of the decode time divided by its mean.
  double decode_spread = 0;
  /// Sentences about what was seen and what is assumed.
  std::vector<std::string> notes;
};

/// Returns the format that the first bytes of a file show, such as "JPEG" or "PNG"; "other" for all else. 512
/// bytes are enough.
std::string_view format_of_bytes(std::string_view first_bytes);

/// Surveys a folder with one file a sample (its folder "train" if it has one) or with archives, or a single
/// archive: a webdataset tar, HDF5, TFRecord or Parquet file.
/// Throws InputError where there is nothing, where nothing can be read, and for a file of another kind.
/// Requires positive limits.
DataSurvey survey_data(const std::string& path, const SurveyLimits& limits = {});

}  // namespace foretrain
