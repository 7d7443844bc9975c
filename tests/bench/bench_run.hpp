// foretrain-bench against the stand-ins (tests/standin), in a folder of its own, as a user would start it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/csv/samples.hpp"

namespace foretrain::test {

struct BenchOutcome {
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  std::string out, err;

  /// Ended by itself, with a code that --help names.
  bool ended_in_order() const { return exit_code >= 0 && exit_code <= 3; }
  /// What a user reads: one line that begins with "error: ".
  bool says_one_sentence() const;
};

/// A folder that is gone with it.
class BenchFolder {
 public:
  BenchFolder();
  ~BenchFolder();
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;

  /// `environment` as for a shell: "A=1 B=2".
  BenchOutcome run(const std::string& arguments, const std::string& environment = "") const;
  /// Where no file may grow beyond so many blocks of 512 bytes.
  BenchOutcome run_limited(std::size_t blocks, const std::string& arguments) const;
  /// foretrain itself.
  BenchOutcome foretrain(const std::string& arguments) const;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string text_of(const std::string& name) const;  ///< empty when there is no such file
  /// Rows of a samples CSV; throws when it is none.
  std::vector<Sample> samples(const std::string& name) const;
  /// Names of its files.
  std::vector<std::string> files() const;

  static std::filesystem::path program();

 private:
  BenchOutcome run_line(const std::string& line) const;
  std::filesystem::path path_;
};

}  // namespace foretrain::test
