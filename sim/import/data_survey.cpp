// Folders are walked breadth first, so that a walk that was cut has seen whole folders and can estimate the
// others.
// The format is that of most files among a sample taken evenly from all; size and spread are those of the
// files with this format.
#include "sim/import/data_survey.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

/// Bytes read of each file, deepest folder that is entered, and characters of a path that messages show.
constexpr std::size_t kFirstBytes = 512, kDeepestFolder = 32, kShownPath = 200;

/// Bytes of one sample in an archive, whose samples cannot be counted without reading it: images as in
/// ImageNet are assumed.
constexpr Bytes kAssumedSample{110'000};

/// A format with its cost on one core of the reference CPU: a part for every sample, and a part for each of
/// its bytes.
/// JPEG is as measured on ImageNet (transforms_cpu.json: 922 us decode 110 kB, 689 us for the rest). The
/// others are assumed: PNG inflates 40 MB of file a second, and arrays and others are copied at 1 GB/s.
struct Format {
  std::string_view name;
  /// Bytes by which the format is recognised, and their place in the file.
  std::string_view magic;
  std::size_t at;
  /// Microseconds of each sample and of each byte.
  double fixed_us, us_per_byte;
  /// True if one file holds many samples.
  bool is_archive;
};
using namespace std::string_view_literals;
/// The formats in the order of trying. TFRecord has no magic bytes and is recognised by its record.
constexpr Format kFormats[] = {
    {"JPEG", "\xff\xd8\xff"sv, 0, 689, 922.0 / 110'000, false},
    {"PNG", "\x89PNG\r\n\x1a\n"sv, 0, 689, 1.0 / 40, false},
    {"WebP", "WEBP"sv, 8, 689, 922.0 / 60'000, false},
    {"TIFF", "II*\0"sv, 0, 689, 1.0 / 200, false},
    {"TIFF", "MM\0*"sv, 0, 689, 1.0 / 200, false},
    {"BMP", "BM"sv, 0, 689, 1.0 / 1000, false},
    {"NumPy array", "\x93NUMPY"sv, 0, 100, 1.0 / 1000, false},
    {"WAV", "WAVE"sv, 8, 200, 1.0 / 500, false},
    {"FLAC", "fLaC"sv, 0, 200, 1.0 / 50, false},
    {"HDF5", "\x89HDF\r\n\x1a\n"sv, 0, 689, 922.0 / 110'000, true},
    {"Parquet", "PAR1"sv, 0, 689, 922.0 / 110'000, true},
    {"tar", "ustar"sv, 257, 689, 922.0 / 110'000, true},
    {"TFRecord", ""sv, 0, 689, 922.0 / 110'000, true},
    {"other", ""sv, 0, 100, 1.0 / 1000, false},
};

/// Returns the row of a format, which must exist.
const Format& format_named(std::string_view name) {
  return *std::ranges::find(kFormats, name, &Format::name);
}

/// Returns words such as "3 JPEG files".
std::string files_of(std::int64_t count, const Format& format) {
  const std::string noun = plural(count, "file");
  return format.name == "other" ? fmt::format("{} {} of no known format", count, noun)
                                : fmt::format("{} {} {}", count, format.name, noun);
}

/// Says whether bytes begin with a record of TFRecord: a length in eight bytes, the lowest first, a checksum,
/// and a protobuf message. Lengths from 100 MB on are taken for no record.
bool is_tfrecord(std::string_view bytes) {
  if (bytes.size() < 16) return false;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8U | static_cast<unsigned char>(bytes[i]);
  return length > 0 && length < 100'000'000 && bytes.substr(12).starts_with('\n');
}

/// Throws InputError about the data set.
[[noreturn]] void refuse(const std::string& path, const std::string& why, std::string hint) {
  throw InputError(fmt::format("--dataset {}: {}", shortened(path, kShownPath), why), std::move(hint));
}

/// Returns the words for errno.
std::string last_error() { return std::generic_category().message(errno); }

/// Closes a folder at the end of its life.
struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

/// Returns the open folder; empty when it cannot be read.
OpenFolder open_folder(const std::string& path) { return OpenFolder(::opendir(path.c_str())); }

/// A regular file with its size in bytes.
struct SeenFile {
  std::string path;
  std::int64_t size = 0;
};

/// The result of a walk, with counts of what was passed over.
struct Walk {
  std::vector<SeenFile> files;
  std::size_t entries = 0, links = 0, empty = 0, unreadable = 0, folders = 0, folders_left = 0;
  bool is_cut = false;
};

/// Walks one folder within the limits.
class Walker {
 public:
  explicit Walker(const SurveyLimits& limits) : limits_(limits) {}

  /// Walks until all folders are read or the limit of entries is reached. Folders that are left make the
  /// estimate.
  Walk walk(const std::string& root) {
    open_.push_back({root, 0});
    while (!open_.empty() && !walk_.is_cut) {
      const auto [folder, depth] = open_.front();
      open_.pop_front();
      read_folder(folder, depth);
    }
    walk_.folders_left = open_.size();
    return std::move(walk_);
  }

 private:
  /// Reads the entries of one folder.
  void read_folder(const std::string& folder, std::size_t depth) {
    const OpenFolder open = open_folder(folder);
    if (!open) {
      ++walk_.unreadable;
      return;
    }
    ++walk_.folders;
    while (const dirent* entry = ::readdir(open.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      // The limit counts all entries, so a folder of millions of links ends the walk, too.
      if (++walk_.entries > limits_.entries) {
        walk_.is_cut = true;
        return;
      }
      take(folder + "/" + entry->d_name, depth);
    }
  }

  /// Takes one entry. lstat() does not follow links, so a walk cannot leave the folder or go round in a
  /// circle.
  void take(const std::string& path, std::size_t depth) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) {
      ++walk_.unreadable;
    } else if (S_ISLNK(found.st_mode)) {
      ++walk_.links;
    } else if (S_ISDIR(found.st_mode) && depth < kDeepestFolder) {
      open_.push_back({path, depth + 1});
    } else if (S_ISREG(found.st_mode)) {
      found.st_size > 0 ? walk_.files.push_back({path, found.st_size}) : void(++walk_.empty);
    }
  }

  const SurveyLimits& limits_;
  std::deque<std::pair<std::string, std::size_t>> open_;
  Walk walk_;
};

/// Returns the beginning of a regular file; empty when it cannot be opened. O_NONBLOCK keeps a pipe in its
/// place from blocking. `follow` is O_NOFOLLOW for files of a walk, and 0 for a path that the user gave.
std::string first_bytes_of(const std::string& path, int follow) {
  const int file = ::open(path.c_str(), O_RDONLY | follow | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, kFirstBytes> block{};
  const ssize_t got = ::read(file, block.data(), block.size());
  ::close(file);
  return {block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

/// The most frequent format of the sample, and the sizes of the files that have it.
struct Sampled {
  std::string_view format = "other";
  std::vector<std::int64_t> sizes;
  std::size_t opened = 0, unreadable = 0;
};

/// Opens files at even distances in the list, at most limits.files of them.
Sampled sample_files(const std::vector<SeenFile>& files, const SurveyLimits& limits) {
  Sampled sampled;
  std::map<std::string_view, std::vector<std::int64_t>> sizes;
  // The step is rounded up, so that no more files are opened than allowed.
  const std::size_t step = (files.size() + limits.files - 1) / limits.files;
  for (std::size_t i = 0; i < files.size(); i += step) {
    const std::string bytes = first_bytes_of(files[i].path, O_NOFOLLOW);
    bytes.empty() ? ++sampled.unreadable : ++sampled.opened;
    if (!bytes.empty()) sizes[format_of_bytes(bytes)].push_back(files[i].size);
  }
  for (auto& [format, of_format] : sizes) {
    // The first by name of equally frequent formats wins, so the result does not depend on the order of
    // files.
    if (of_format.size() > sampled.sizes.size()) sampled.format = format, sampled.sizes = of_format;
  }
  std::ranges::sort(sampled.sizes);
  return sampled;
}

/// Returns the standard deviation divided by the mean, at most 10.
double spread_of(const std::vector<std::int64_t>& sizes) {
  double sum = 0, squares = 0;
  for (const std::int64_t size : sizes) {
    const auto value = static_cast<double>(size);
    sum += value, squares += value * value;
  }
  const auto count = static_cast<double>(sizes.size());
  const double mean = sum / count;
  return std::min(10.0, std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean);
}

/// Sets the decode time by format and size.
void set_decode(const Format& format, DataSurvey& survey) {
  survey.decode = microseconds(
      std::min(1e9, format.fixed_us + format.us_per_byte * static_cast<double>(survey.stored_bytes.count)));
}

/// Sets the number of samples of archives with that many bytes in all.
void assume_samples(const Format& format, double bytes, DataSurvey& survey) {
  survey.stored_bytes = kAssumedSample;
  survey.samples = std::max<std::int64_t>(1, std::llround(bytes / static_cast<double>(kAssumedSample.count)));
  // This spread of sizes is assumed, too.
  survey.decode_spread = 0.5;
  set_decode(format, survey);
  survey.notes.push_back(
      fmt::format("the samples of {} are not counted: {} of them follow from {} and {} each, the mean of "
                  "ImageNet's JPEG files, which "
                  "is assumed; data.samples says otherwise",
                  format.name == "other" ? "this file" : std::string(format.name) + " files", survey.samples,
                  to_string(Bytes{std::llround(std::min(bytes, 9e18))}), to_string(kAssumedSample)));
}

/// Adds a note on the estimate of the decode time.
void note_decode(const Format& format, DataSurvey& survey) {
  const std::string_view name = format.is_archive ? "JPEG" : format.name;
  survey.notes.push_back(fmt::format(
      "decode {} a sample is an estimate for {} of that size, not measured here; data.decode says otherwise",
      to_string(survey.decode), name == "other" ? "files" : std::string(name) + " files"));
}

/// Returns the estimated number of files. Folders that the walk did not reach are taken to hold as many as
/// those it read.
double all_files(const Walk& walk) {
  const auto seen = static_cast<double>(walk.files.size());
  // A single folder says nothing about others, so nothing is added then.
  if (!walk.is_cut || walk.folders_left == 0 || walk.folders < 2) return seen;
  return seen * static_cast<double>(walk.folders + walk.folders_left) / static_cast<double>(walk.folders);
}

/// Adds a note on what the walk has seen and passed over.
void note_walk(const Walk& walk, const Sampled& sampled, double files, DataSurvey& survey) {
  std::string seen = fmt::format("{} opened", counted(static_cast<std::int64_t>(sampled.opened), "file"));
  if (walk.is_cut)
    seen +=
        walk.folders_left > 0 && walk.folders > 1
            ? fmt::format(
                  ", the walk stopped after {} entries; about {:.0f} files as {} hold as many as those seen",
                  walk.entries - 1, files,
                  counted(static_cast<std::int64_t>(walk.folders_left), "further folder"))
            : fmt::format(", the walk stopped after {} entries: there are more samples than that",
                          walk.entries - 1);
  if (walk.links > 0)
    seen += fmt::format(", {} not followed", counted(static_cast<std::int64_t>(walk.links), "link"));
  const std::size_t unreadable = walk.unreadable + sampled.unreadable;
  if (unreadable > 0) seen += fmt::format(", {} could not be read and do not count", unreadable);
  survey.notes.push_back(seen);
}

/// Returns the folder of the training samples alone, if they have one.
std::string training_folder(const std::string& root) {
  for (const char* name : {"train", "training"}) {
    const std::string folder = root + "/" + name;
    struct stat found {};
    if (::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return folder;
  }
  return root;
}

/// Returns the reason why a folder has no usable file.
std::string why_without_files(const Walk& walk) {
  if (walk.empty > 0)
    return fmt::format("{} in it without a byte", counted(static_cast<std::int64_t>(walk.empty), "file"));
  return fmt::format("no files are in it{}", walk.links > 0 ? "; links are not followed" : "");
}

/// Surveys a folder.
DataSurvey survey_folder(const std::string& path, const SurveyLimits& limits) {
  // The folder is opened once, so that the reason of a failure can be told.
  if (!open_folder(path)) refuse(path, "cannot be read: " + last_error(), "a folder that you may read");
  const std::string root = training_folder(path);
  const Walk walk = Walker(limits).walk(root);
  if (walk.files.empty())
    refuse(path, why_without_files(walk), "a folder with a file per sample, or with archives");
  const Sampled sampled = sample_files(walk.files, limits);
  if (sampled.sizes.empty()) refuse(path, "none of its files can be read", "files that you may read");
  const Format& format = format_named(sampled.format);
  const double files = all_files(walk);
  // The median is robust against a few huge files among many small ones.
  const auto median = sampled.sizes[sampled.sizes.size() / 2];
  DataSurvey survey;
  if (format.is_archive) {
    assume_samples(format, files * static_cast<double>(median), survey);
  } else {
    // Files of other formats, such as labels, are no samples.
    const double share = static_cast<double>(sampled.sizes.size()) / static_cast<double>(sampled.opened);
    survey.samples = std::max<std::int64_t>(1, std::llround(files * share));
    survey.stored_bytes = Bytes{median};
    survey.decode_spread = spread_of(sampled.sizes);
    set_decode(format, survey);
    survey.notes.push_back(fmt::format("{} of {} in the median in {}", files_of(survey.samples, format),
                                       to_string(survey.stored_bytes), shortened(root, kShownPath)));
  }
  note_walk(walk, sampled, files, survey);
  note_decode(format, survey);
  return survey;
}

/// Surveys a single archive.
DataSurvey survey_file(const std::string& path, std::int64_t size) {
  if (size == 0) refuse(path, "is empty", "");
  const std::string bytes = first_bytes_of(path, 0);
  if (bytes.empty()) refuse(path, "cannot be read: " + last_error(), "a file that you may read");
  const Format& format = format_named(format_of_bytes(bytes));
  // A single file of another format would be a data set of one sample.
  if (!format.is_archive)
    refuse(path,
           fmt::format("is no archive of samples{}",
                       format.name == "other" ? "" : fmt::format(", but one {} file", format.name)),
           "webdataset tar, HDF5, TFRecord and Parquet files are looked at, and folders");
  DataSurvey survey;
  assume_samples(format, static_cast<double>(size), survey);
  note_decode(format, survey);
  return survey;
}

}  // namespace

// Magic bytes go first, as TFRecord is recognised by less.
std::string_view format_of_bytes(std::string_view bytes) {
  for (const Format& format : kFormats) {
    if (!format.magic.empty() && bytes.size() > format.at &&
        bytes.substr(format.at).starts_with(format.magic))
      return format.name;
  }
  return is_tfrecord(bytes) ? "TFRecord" : "other";
}

DataSurvey survey_data(const std::string& path, const SurveyLimits& limits) {
  struct stat found {};
  constexpr const char* kExpected = "a data set of `foretrain list datasets`, a file or a folder";
  // A NUL byte would cut the path that the system sees.
  if (path.find('\0') != std::string::npos) refuse(path, "has a NUL byte, which no path has", kExpected);
  if (::stat(path.c_str(), &found) != 0) refuse(path, last_error(), kExpected);
  if (S_ISDIR(found.st_mode)) return survey_folder(path, limits);
  if (!S_ISREG(found.st_mode)) refuse(path, "is neither a file nor a folder", "");
  return survey_file(path, found.st_size);
}

}  // namespace foretrain
