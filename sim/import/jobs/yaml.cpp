// yaml-cpp's parser reports events, and a stack of open nodes turns them into values. Nothing is expanded
// before it is counted, so a short text with aliases of aliases cannot fill the memory.
#include "sim/import/jobs/yaml.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace foretrain {

namespace {

using YamlKind = YamlNode::Kind;

/// Returns a place; yaml-cpp counts from 0.
SourceSpan span_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1, 1}; }

/// Returns the number of values in a node, including itself.
std::size_t values_in(const YamlNode& node) {
  std::size_t count = 1;
  for (const auto& [key, value] : node.entries) count += values_in(value);
  for (const YamlNode& item : node.items) count += values_in(item);
  return count;
}

/// Builds the values of one document after the other.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourceText& source, std::size_t most_values)
      : source_(source), most_values_(most_values) {}
  /// Moves a finished document to `out`. Returns false when there is none.
  bool take(YamlNode& out) {
    if (!finished_) return false;
    out = std::move(document_);
    anchors_.clear();
    finished_ = false;
    return true;
  }
  /// Throws InputError with the quoted line.
  [[noreturn]] void refuse(const SourceSpan& span, std::string message, std::string hint = "") const {
    throw InputError(std::vector<Diagnostic>{
        {source_.name, span, std::string(source_.line(span.line)), std::move(message), std::move(hint)}});
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  // The events below are yaml-cpp's interface. Plain "~" and "null" are null; numbers and truth values stay
  // texts.
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({YamlKind::null, {}, {}, {}, span_of(mark)}, anchor);
  }
  // yaml-cpp gives plain scalars the tag "?", and quoted ones "!".
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_null = tag != "!" && (value == "~" || value == "null");
    add({is_null ? YamlKind::null : YamlKind::scalar, value, {}, {}, span_of(mark)}, anchor);
  }
  // An anchor is known only when its node is closed, so an alias inside of the node finds nothing.
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      refuse(span_of(mark), "the alias stands inside of what it names: a circle", "write the value out");
    // The copy counts before it is made, so that aliases of aliases end at the limit.
    count(values_in(found->second), span_of(mark));
    YamlNode copy = found->second;
    copy.span = span_of(mark);
    put(std::move(copy));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlKind::list, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlKind::map, mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A map or list that is still being read, with the key that waits for its value.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::string key{};
    bool has_key = false;
  };

  /// Counts values, and refuses the text beyond the limit.
  void count(std::size_t values, const SourceSpan& span) {
    values_ += values;
    if (values_ > most_values_)
      refuse(span, fmt::format("more than {} values, with those that aliases repeat", most_values_));
  }
  /// Opens a map or list.
  void open(YamlKind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kDeepestYaml)
      refuse(span_of(mark), fmt::format("nested deeper than {} levels", kDeepestYaml));
    count(1, span_of(mark));
    open_.push_back({{kind, {}, {}, {}, span_of(mark)}, anchor});
  }
  /// Closes the innermost map or list and puts it into the one around it.
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    name(done.node, done.anchor);
    put(std::move(done.node));
  }
  /// Adds a scalar or null.
  void add(YamlNode node, YAML::anchor_t anchor) {
    count(1, node.span);
    name(node, anchor);
    put(std::move(node));
  }
  /// Keeps a node for the aliases of its anchor. The copy counts as well.
  void name(const YamlNode& node, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    count(values_in(node), node.span);
    anchors_[anchor] = node;
  }
  /// Puts a node where it belongs: as the document, as an item, as a key or as the value of the key before
  /// it.
  void put(YamlNode node) {
    if (open_.empty()) return document_ = std::move(node), void(finished_ = true);
    Open& into = open_.back();
    if (into.node.kind == YamlKind::list) return into.node.items.push_back(std::move(node));
    // Keys and values of a map arrive in turn.
    if (!into.has_key) return into.key = std::move(node.text), void(into.has_key = true);
    into.node.entries.emplace_back(std::move(into.key), std::move(node));
    into.has_key = false;
  }

  const SourceText& source_;
  std::size_t most_values_;
  /// Maps and lists from the document down to the current one.
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  YamlNode document_;
  std::size_t values_ = 0;
  bool finished_ = false;
};

/// Writes a node by yaml-cpp's emitter; texts of several lines are written as literal blocks.
void emit(YAML::Emitter& out, const YamlNode& node) {
  if (node.kind == YamlKind::scalar) {
    if (node.is_quoted) out << YAML::DoubleQuoted;
    if (node.text.find('\n') != std::string::npos) out << YAML::Literal;
    out << node.text;
  } else if (node.kind == YamlKind::map) {
    out << YAML::BeginMap;
    for (const auto& [key, value] : node.entries) {
      out << YAML::Key << key << YAML::Value;
      emit(out, value);
    }
    out << YAML::EndMap;
  } else if (node.kind == YamlKind::list) {
    out << YAML::BeginSeq;
    for (const YamlNode& item : node.items) emit(out, item);
    out << YAML::EndSeq;
  } else {
    out << YAML::Null;
  }
}

}  // namespace

std::vector<YamlNode> read_yaml(const SourceText& source, YamlLimits limits) {
  TreeBuilder builder(source, limits.values);
  if (source.text.size() > limits.bytes)
    throw InputError(std::vector<Diagnostic>{
        {source.name,
         {},
         "",
         fmt::format("has {} bytes of YAML; at most {} are read", source.text.size(), limits.bytes),
         ""}});
  std::vector<YamlNode> documents;
  std::istringstream stream(source.text);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
      YamlNode document;
      if (builder.take(document)) documents.push_back(std::move(document));
    }
  } catch (const YAML::Exception& problem) {
    builder.refuse(problem.mark.is_null() ? SourceSpan{} : span_of(problem.mark),
                   fmt::format("is no YAML: {}", problem.msg));
  }
  return documents;
}

std::string write_yaml(const YamlNode& node) {
  YAML::Emitter out;
  emit(out, node);
  return std::string(out.c_str()) + "\n";
}

}  // namespace foretrain
