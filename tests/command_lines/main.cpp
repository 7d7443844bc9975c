// Runs generated command lines by their numbers and counts what became of them; ends with 1 when one of them
// broke a law, after printing it as a line for a shell.
//   command_lines [--from N] [--count N] [--seconds S] [--memory MiB] [--print] [--record FILE --build NAME]
//   FOLDER
// --record adds a row with the totals to a CSV file.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/command_lines/command_files.hpp"
#include "tests/command_lines/made_command.hpp"
#include "tests/command_lines/ran_command.hpp"

namespace {

using namespace foretrain::test;

struct Campaign {
  std::uint64_t from = 0, count = 2000;
  CommandLimits limits;
  bool prints = false;  ///< shows the lines, and runs none
  std::string folder, record, build = "dev";
};

std::uint64_t number_in(const char* text) {
  std::uint64_t number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

Campaign campaign_of(int argc, char** argv) {
  Campaign out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return i + 1 < argc ? number_in(argv[++i]) : 0; };
    if (word == "--from")
      out.from = next();
    else if (word == "--count")
      out.count = next();
    else if (word == "--seconds")
      out.limits.seconds = static_cast<int>(next());
    else if (word == "--memory")
      out.limits.kilobytes = static_cast<long>(next() * 1024);
    else if (word == "--record" && i + 1 < argc)
      out.record = std::filesystem::absolute(argv[++i]);
    else if (word == "--build" && i + 1 < argc)
      out.build = argv[++i];
    else if (word == "--print")
      out.prints = true;
    else
      out.folder = word;
  }
  return out;
}

struct Totals {
  std::map<int, std::uint64_t> of_code;
  std::uint64_t broken = 0;  ///< lines that broke another law than that of time
  std::uint64_t slow = 0;
  double seconds = 0, slowest = 0;
  long most_kilobytes = 0;
  std::uint64_t slowest_number = 0, largest_number = 0;

  std::uint64_t with_code(int code) const {
    const auto found = of_code.find(code);
    return found == of_code.end() ? 0 : found->second;
  }

  void add(std::uint64_t number, const RanCommand& ran) {
    ++of_code[ran.code];
    seconds += ran.seconds;
    if (ran.seconds > slowest) slowest = ran.seconds, slowest_number = number;
    if (ran.kilobytes > most_kilobytes) most_kilobytes = ran.kilobytes, largest_number = number;
  }
};

void run(const Campaign& campaign, const CommandVocabulary& vocabulary, Totals& totals) {
  for (std::uint64_t number = campaign.from; number < campaign.from + campaign.count; ++number) {
    const std::vector<std::string> line = make_command(vocabulary, number);
    if (campaign.prints) {
      std::printf("%s\n", shell_text(line).c_str());
      continue;
    }
    const RanCommand ran = run_command(line, campaign.limits);
    totals.add(number, ran);
    const std::string broken = broken_law(line, ran, campaign.limits, restore_files());
    if (broken.empty()) continue;
    ++(is_slow(ran, campaign.limits) ? totals.slow : totals.broken);
    fmt::print("{}: {}\n  {}\n{}", number, broken, shell_text(line).substr(0, 2000),
               ran.errors.substr(0, 600));
    std::fflush(stdout);
  }
}

void record(const Campaign& campaign, const Totals& totals) {
  if (campaign.record.empty()) return;
  const bool is_new = !std::filesystem::exists(campaign.record);
  std::FILE* file = std::fopen(campaign.record.c_str(), "a");
  if (file == nullptr) return std::perror(campaign.record.c_str());
  if (is_new)
    fmt::print(
        file, "build,from,lines,code_0,code_1,code_2,code_3,broken,slow,cpu_seconds,slowest_s,largest_mib\n");
  fmt::print(file, "{},{},{},{},{},{},{},{},{},{:.0f},{:.2f},{}\n", campaign.build, campaign.from,
             campaign.count, totals.with_code(0), totals.with_code(1), totals.with_code(2),
             totals.with_code(3), totals.broken, totals.slow, totals.seconds, totals.slowest,
             totals.most_kilobytes / 1024);
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  const Campaign campaign = campaign_of(argc, argv);
  if (campaign.folder.empty()) {
    std::fprintf(stderr,
                 "command_lines [--from N] [--count N] [--seconds S] [--memory MiB] [--print] FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(campaign.folder);
  std::filesystem::current_path(campaign.folder);
  ::setenv("XDG_DATA_HOME", std::filesystem::absolute("home").c_str(), 1);
  const CommandVocabulary vocabulary = read_vocabulary(write_files());
  Totals totals;
  run(campaign, vocabulary, totals);
  if (campaign.prints) return 0;
  record(campaign, totals);
  fmt::print("{} command lines from {}: {} took too long and {} broke another law;", campaign.count,
             campaign.from, totals.slow, totals.broken);
  for (const auto& [code, count] : totals.of_code) fmt::print(" exit code {}: {};", code, count);
  fmt::print(" {:.2f} ms of CPU each; slowest {:.2f} s (number {}); largest {} MiB (number {})\n",
             1e3 * totals.seconds / static_cast<double>(std::max<std::uint64_t>(1, campaign.count)),
             totals.slowest, totals.slowest_number, totals.most_kilobytes / 1024, totals.largest_number);
  return totals.broken + totals.slow == 0 ? 0 : 1;
}
