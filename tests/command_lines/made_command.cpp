// A command line is drawn from its number alone, so a finding is repeated by giving the number again.
#include "tests/command_lines/made_command.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "sim/app/command_line.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain::test {

namespace {

/// `serve` never ends, and `calibrate run` becomes another program.
bool ends_by_itself(const CompletedCommand& command) {
  return command.path != "serve" && command.path != "calibrate run";
}

class Maker {
  int below(int limit) {
    return limit > 0 ? static_cast<int>(random_() % static_cast<std::uint64_t>(limit)) : 0;
  }
  bool one_in(int n) { return below(n) == 0; }
  template <class List>
  const auto& one_of(const List& list) {
    return *(std::begin(list) + below(static_cast<int>(std::size(list))));
  }

 public:
  Maker(const CommandVocabulary& vocabulary, std::uint64_t number) : words_(vocabulary), random_(number) {}

  std::vector<std::string> make() {
    const CompletedCommand& command = usual_command();
    std::vector<std::string> out;
    std::string path = command.path;
    for (std::size_t space; (space = path.find(' ')) != std::string::npos; path = path.substr(space + 1))
      out.push_back(path.substr(0, space));
    if (!path.empty()) out.push_back(path);
    if (!out.empty() && one_in(200)) out.back() = misspelt(out.back());
    const std::size_t begin = out.size();
    if (!command.argument.noun.empty()) add_arguments(command.argument, out);
    add_what_is_asked(command, out);
    const int more = one_in(8) ? 5 : below(3);
    for (int i = 0; i < more && !command.options.empty(); ++i) add_option(one_of(command.options), out);
    if (one_in(25) && out.size() > begin)
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(begin) +
                below(static_cast<int>(out.size() - begin)));
    return out;
  }

 private:
  /// Predictions are asked for more often than the rest.
  const CompletedCommand& usual_command() {
    static constexpr std::array<std::string_view, 5> kOften{"predict", "compare", "plan", "tune",
                                                            "collective"};
    if (!one_in(3)) {
      const std::string_view name = one_of(kOften);
      for (const CompletedCommand& command : words_.commands)
        if (command.path == name) return command;
    }
    return one_of(words_.commands);
  }

  static bool has_option(const CompletedCommand& command, std::string_view name) {
    return std::ranges::any_of(command.options, [&](const CompletedOption& option) {
      return std::ranges::find(option.names, name) != option.names.end();
    });
  }

  /// Without a model and a cluster most lines would end at the same sentence.
  void add_what_is_asked(const CompletedCommand& command, std::vector<std::string>& out) {
    for (const CompletedOption& option : command.options) {
      const std::string& name = option.names.back();
      const bool is_named = name == "--model" || name == "--cluster" || name == "--over" || name == "--op" ||
                            name == "--source";
      if (is_named && !one_in(6)) add_option(option, out);
      if (name == "--gpus" && !one_in(5))
        out.insert(out.end(), {name, option.value.is_list ? few_gpus() : one_in(2) ? "4" : "8"});
      if (name == "--set" && one_in(2)) add_option(option, out);
      if (name == "--global-batch" && one_in(2))
        out.insert(out.end(), {name, one_in(2) ? "64" : "1M-tokens"});
    }
    if (has_option(command, "--nodes") && one_in(8)) out.insert(out.end(), {"--nodes", "2"});
  }

  std::string few_gpus() {
    static constexpr std::array<std::string_view, 9> kNumbers{"1", "2",  "4",   "8", "1,2,4",
                                                              "3", "16", "1-5", "12"};
    return std::string(one_of(kNumbers));
  }

  void add_arguments(const CompletedValue& value, std::vector<std::string>& out) {
    const int count = one_in(12) ? 0 : one_in(10) ? 2 : 1;
    for (int i = 0; i < count; ++i) out.push_back(value_of(value, "", ""));
  }

  /// Most options may be given once.
  void add_option(const CompletedOption& option, std::vector<std::string>& out) {
    const bool is_there = std::ranges::find_first_of(out, option.names) != out.end();
    if (is_there && !option.value.noun.starts_with("KEY=") && !one_in(10)) return;
    std::string name = one_of(option.names);
    if (one_in(150)) name = misspelt(name);
    out.push_back(name);
    if (option.value.noun.empty() || one_in(80)) return;
    out.push_back(value_of(option.value, option.names.back(), option.summary));
  }

  static bool is_written(const std::string& option, const std::string& summary) {
    static constexpr std::array<std::string_view, 7> kOutputs{
        "--output", "--condor", "--sbatch", "--job-script", "--html", "--trace", "--svg"};
    return std::ranges::find(kOutputs, option) != kOutputs.end() ||
           summary.find("rite") != std::string::npos || summary.find("raw") != std::string::npos ||
           summary.find("page") != std::string::npos;
  }

  std::string value_of(const CompletedValue& value, const std::string& option, const std::string& summary) {
    if (one_in(40)) return junk();
    if (!value.choices.empty()) return maybe_misspelt(one_of(value.choices));
    if (value.noun.starts_with("KEY=")) return setting();
    if (!value.catalog.empty() && !(value.is_file && one_in(4))) return names_of(value);
    if (option == "--axis" || option == "--over") return axis();
    if (value.is_file || value.noun == "FOLDER" || value.noun == "PREFIX" || value.noun == "PATH")
      return is_written(option, summary) ? written_file() : read_file();
    return plain(value);
  }

  std::string names_of(const CompletedValue& value) {
    // Small networks find as much as large ones in a fraction of the time.
    static constexpr std::array<std::string_view, 6> kSmall{"mnist_net", "spiral_mlp", "resnet18",
                                                            "resnet50",  "gpt2",       "unet2d"};
    if (value.catalog == "models" && !one_in(4)) return maybe_misspelt(std::string(one_of(kSmall)));
    const std::vector<std::string>& names = words_.names(value.catalog);
    if (names.empty()) return "all";
    std::string out = maybe_misspelt(one_of(names));
    if (value.is_list && one_in(2)) out += "," + one_of(names);
    return out;
  }

  std::string plain(const CompletedValue& value) {
    static constexpr std::array<std::string_view, 16> kNumbers{
        "1", "2",  "4", "8",   "3",  "16",  "32",      "5",
        "7", "64", "0", "100", "-1", "1.5", "1000000", "99999999999999999999"};
    static constexpr std::array<std::string_view, 24> kTexts{
        "1h",        "30 min",         "8:1M:2", "1K:1K:4", "8",    "a=b",      "own",
        "gpus <= 4", "step_s > 0",     "1/2",    "1/0",     "2/1",  "(1",       "ddp",
        "batch",     "model",          "",       "all",     "fp32", "12:00:00", "\xff",
        "x\ny",      "$(touch PWNED)", "../../x"};
    const bool is_number =
        value.noun == "N" || value.noun == "M" || value.noun == "X" || value.noun == "GPUh";
    if (is_number && value.is_list && one_in(2)) return few_gpus();
    if (is_number && !one_in(12)) return std::string(one_of(kNumbers));
    if (value.is_list && one_in(2)) return few_gpus();
    return std::string(one_of(kTexts));
  }

  std::string axis() {
    static constexpr std::array<std::string_view, 8> kAxes{
        "strategy,batch", "batch=8:64:*2",        "gpus=1,2,4",      "strategy",
        "workers",        "strategy=ddp,horovod", "bucket_cap,gpus", "nonsense=1"};
    return std::string(one_of(kAxes));
  }

  /// A key with its example, another key's value, a number, or nothing.
  std::string setting() {
    std::string text = one_of(words_.keys);
    const std::size_t equals = text.find('=');
    std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    if (one_in(30)) key = misspelt(key);
    if (one_in(12)) {
      const std::string& other = one_of(words_.keys);
      value = other.substr(other.find('=') + 1);
    } else if (one_in(6)) {
      static constexpr std::array<std::string_view, 14> kValues{
          "0",    "-1", "1",  "1e308", "nan",      "1000000000000",  "\"\"",
          "true", "[]", "{}", "[0]",   "\"1 ns\"", "\"1000000 TB\"", "0.000001"};
      value = one_of(kValues);
    }
    if (one_in(60)) return key;
    return key + "=" + value;
  }

  std::string read_file() {
    static constexpr std::array<std::string_view, 6> kOdd{"missing.toml", ".", "no/such/file", "-",
                                                          "/dev/null",    ""};
    return one_in(10) ? std::string(one_of(kOdd)) : one_of(words_.files);
  }

  std::string written_file() {
    static constexpr std::array<std::string_view, 6> kPlaces{"out.txt", "out.html",           "out.json",
                                                             "-",       "no/such/folder/out", "."};
    return std::string(one_of(kPlaces));
  }

  std::string junk() {
    static constexpr std::array<std::string_view, 8> kJunk{"",         "-",    "--",   "=",
                                                           "\xc3\x28", "0x10", "%s%n", "a,b,,c"};
    return one_in(6) ? std::string(5000, 'x') : std::string(one_of(kJunk));
  }

  std::string maybe_misspelt(std::string name) { return one_in(14) ? misspelt(std::move(name)) : name; }

  /// A letter is left out, doubled or replaced.
  std::string misspelt(std::string name) {
    if (name.empty()) return "x";
    const auto at = static_cast<std::size_t>(below(static_cast<int>(name.size())));
    const int how = below(3);
    if (how == 0) return name.erase(at, 1);
    if (how == 1) return name.insert(at, 1, name[at]);
    name[at] = 'q';
    return name;
  }

  const CommandVocabulary& words_;
  std::mt19937_64 random_;
};

}  // namespace

const std::vector<std::string>& CommandVocabulary::names(const std::string& catalog) const {
  static const std::vector<std::string> kNone;
  for (const auto& [name, entries] : catalogs)
    if (name == catalog) return entries;
  return kNone;
}

CommandVocabulary read_vocabulary(std::vector<std::string> files) {
  CommandVocabulary out{{}, {}, std::move(files), {}};
  for (CompletedCommand& command : described_commands())
    if (ends_by_itself(command)) out.commands.push_back(std::move(command));
  for (const ScenarioKey& key : scenario_keys()) out.keys.push_back(key.name + "=" + key.example);
  std::vector<std::string> strategies;
  for (const StrategyEntry& entry : strategy_catalog()) strategies.emplace_back(entry.name);
  out.catalogs = {{"models", names_in(CatalogKind::models)},
                  {"clusters", names_in(CatalogKind::clusters)},
                  {"gpus", names_in(CatalogKind::gpus)},
                  {"scenarios", names_in(CatalogKind::scenarios)},
                  {"datasets", names_in(CatalogKind::datasets)},
                  {"transports", names_in(CatalogKind::transports)},
                  {"calibrations", names_in(CatalogKind::calibrations)},
                  {"strategies", std::move(strategies)}};
  return out;
}

std::vector<std::string> make_command(const CommandVocabulary& vocabulary, std::uint64_t number) {
  return Maker(vocabulary, number).make();
}

std::string shell_text(const std::vector<std::string>& arguments) {
  std::string out = "foretrain";
  for (const std::string& argument : arguments) {
    out += " '";
    for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += "'";
  }
  return out;
}

}  // namespace foretrain::test
