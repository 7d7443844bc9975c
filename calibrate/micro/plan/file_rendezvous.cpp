// A rank writes its text so that it is there whole, then waits for the others' files. Who has all files of a
// turn knows that all have read those of the turn before, so it removes its own.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "calibrate/micro/plan/rendezvous.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/whole_file.hpp"

namespace foretrain::micro {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Mailbox {
 public:
  Mailbox(std::string folder, const JobRank& job, double timeout_s)
      : folder_(std::move(folder)), job_(job), timeout_(timeout_s) {}

  std::vector<std::string> exchange(const std::string& text) {
    post(text);
    std::vector<std::string> texts;
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(timeout_);
    for (int rank = 0; rank < job_.ranks; ++rank) texts.push_back(wait_for(rank, end));
    std::error_code ignored;
    if (turn_ > 0) fs::remove(name(turn_ - 1, job_.rank), ignored);
    ++turn_;
    return texts;
  }

 private:
  fs::path name(int turn, int rank) const {
    return fs::path(folder_) / fmt::format("foretrain-{}.{}.{}", job_.job, turn, rank);
  }

  void post(const std::string& text) const {
    const fs::path path = name(turn_, job_.rank);
    if (turn_ == 0 && fs::exists(path))
      throw EnvironmentError(
          fmt::format("{}: is left from an earlier start; give --rendezvous an empty folder", path.string()));
    replace_entry(path.string(), text);
  }

  std::string wait_for(int rank, std::chrono::steady_clock::time_point end) const {
    const fs::path path = name(turn_, rank);
    while (true) {
      std::ifstream stream(path, std::ios::binary);
      if (stream) return {std::istreambuf_iterator<char>(stream), {}};
      if (std::chrono::steady_clock::now() > end)
        throw EnvironmentError(
            fmt::format("rank {} did not come to {} in {} s", rank, folder_, timeout_.count()));
      std::this_thread::sleep_for(5ms);
    }
  }

  std::string folder_;
  JobRank job_;
  std::chrono::duration<double> timeout_;
  int turn_ = 0;
};

}  // namespace

AllGather alone() {
  return [](const std::string& text) { return std::vector<std::string>{text}; };
}

AllGather through_files(const std::string& folder, const JobRank& job, double timeout_s) {
  const auto mailbox = std::make_shared<Mailbox>(folder, job, timeout_s);
  return [mailbox](const std::string& text) { return mailbox->exchange(text); };
}

}  // namespace foretrain::micro
