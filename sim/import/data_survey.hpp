// A data set that lies on the disk, looked over: how many samples, how large, in which format. A look and no
// count: what it costs is bounded, links are not followed, and what may not be read is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// At most so much is looked at.
struct SurveyLimits {
  std::size_t entries = 20'000;  ///< of folders, walked
  std::size_t files = 200;       ///< opened for their first bytes
};

/// What a look at the files of a data set shows: samples, bytes and the time to decode one.
struct DataSurvey {
  std::int64_t samples = 0;
  Bytes stored_bytes{};  ///< of a sample
  Time decode{};         ///< on the reference core
  double decode_spread = 0;
  std::vector<std::string> notes;  ///< what was seen and what is assumed, sentences
};

/// What the first bytes of a file say: "JPEG", "PNG", …; "other" for all else.
std::string_view format_of_bytes(std::string_view first_bytes);

/// Of a folder with a file per sample (of its folder "train" where it has one) or with archives, or of one
/// archive: a webdataset tar, HDF5, TFRecord or Parquet file. Throws InputError where there is nothing, where
/// nothing may be read, and for a file of another kind.
DataSurvey survey_data(const std::string& path, const SurveyLimits& limits = {});

}  // namespace foretrain
