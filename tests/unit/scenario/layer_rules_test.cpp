// The rules of layer types: every type can be written in a file, and the page about model files lists every
// type with its keys.
#include "sim/scenario/layers/layer_rules.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"
#include "tests/support/catch.hpp"

namespace layer_rules_test {

using namespace foretrain;

namespace {

/// "**out**, stride, bias, mode": required numbers first in the rule's order, then yes or no, then words.
std::string keys_of(const TypeRule& rule) {
  std::vector<std::string> keys;
  for (const FieldRule& field : rule.fields)
    keys.push_back(fmt::format("{0}{1}{0}", field.required ? "**" : "", row_of(field.field).key));
  for (const FlagRule& flag : rule.flags) keys.emplace_back(flag.key);
  for (const TimeRule& time : rule.times) keys.push_back(fmt::format("**{}**", time.key));
  for (const WordRule& word : rule.words) keys.emplace_back(word.key);
  if (rule.joins) keys.insert(keys.end(), {"branches", "with"});
  if (rule.has_memory) keys.emplace_back("memory");
  return keys.empty() ? "–" : fmt::format("{}", fmt::join(keys, ", "));
}

std::string page() {
  std::ifstream file(fmt::format("{}/docs/models/model_files.md", FORETRAIN_SOURCE_DIR));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("every layer type can be written in a model file, under one name") {
  const std::vector<std::string>& names = layer_type_names();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (int type = 0; type <= static_cast<int>(LayerType::loss); ++type) {
    const auto name = row_of(static_cast<LayerType>(type)).name;
    INFO(name);
    const TypeRule* rule = find_type_rule(name);
    REQUIRE(rule != nullptr);
    CHECK(rule->type == static_cast<LayerType>(type));
  }
  CHECK(find_type_rule("block") == nullptr);
}

TEST_CASE("the page about model files lists every type with its keys, and no other") {
  const std::string text = page();
  const std::string rows = text.substr(text.find("| type | keys |"));
  CHECK(std::count(rows.begin(), rows.end(), '\n') ==
        static_cast<std::ptrdiff_t>(layer_type_names().size()) + 1);  // two lines of header, no "block"
  for (const std::string& name : layer_type_names()) {
    const TypeRule* rule = find_type_rule(name);
    if (rule != nullptr)
      CHECK_THAT(text, ContainsSubstring(fmt::format("\n| {} | {} |", name, keys_of(*rule))));
  }
}

TEST_CASE("the defaults of a rule are within the field's range or mean that nothing is given") {
  for (const std::string& name : layer_type_names()) {
    const TypeRule* rule = find_type_rule(name);
    if (rule == nullptr) continue;
    for (const FieldRule& field : rule->fields) {
      const FieldRow& row = row_of(field.field);
      INFO(name << "." << row.key);
      CHECK((field.required || field.standard == 0 ||
             (field.standard >= row.least && field.standard <= row.most)));
      CHECK((row.store != nullptr));
    }
  }
}

}  // namespace layer_rules_test
