// Makes a network of an execution trace. The trace has sizes and settings of every operator, so formulas give
// their work; it has no times.
//
// The calls form a tree. The walk goes down from the outer calls and stops at the first operator whose
// formula covers all of its work. What the optimizer, loading and communication do is not the network's.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/traces/execution_trace.hpp"
#include "sim/import/traces/traced_network.hpp"
#include "sim/import/traces/traced_parameters.hpp"

namespace foretrain {

namespace {

/// One line of the list `operators`.
struct ExecutedOperator {
  const ExecutionNode* call = nullptr;
  // Node of autograd; empty: forward.
  std::string node;
  // Sizes of the gradients that are complete after it.
  std::vector<std::string> ready;
};

/// Children of each node, by index; calls without a call around them are `roots`.
struct CallTree {
  std::vector<std::vector<std::uint32_t>> children;
  std::vector<std::uint32_t> roots;
};

/// A caller has a smaller id than its callees, so the tree has no cycles whatever the file says.
CallTree tree_of(const ExecutionTrace& trace) {
  CallTree out;
  out.children.resize(trace.nodes.size());
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const ExecutionNode& node = trace.nodes[i];
    const auto parent = std::ranges::lower_bound(trace.nodes, node.parent, {}, &ExecutionNode::id);
    // A caller with a larger number is a fault of the file; such a call becomes a root.
    const bool has_parent = parent != trace.nodes.end() && parent->id == node.parent && node.parent < node.id;
    if (has_parent)
      out.children[static_cast<std::size_t>(parent - trace.nodes.begin())].push_back(i);
    else
      out.roots.push_back(i);
  }
  return out;
}

/// Returns the values of a list in JSON, each as text: "[1,2]" and "3" for "[[1,2],3]".
std::vector<std::string> list_values(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  for (const char c : text) {
    // Depth 1 is the list itself; what is deeper belongs to a value.
    if (c == ']') --depth;
    if (depth > 1 || (depth == 1 && c != ',' && c != '[')) {
      if (out.empty()) out.emplace_back();
      out.back().push_back(c);
    } else if (depth == 1 && c == '[') {
      if (out.empty()) out.emplace_back();
      out.back().push_back(c);
    } else if (depth == 1 && c == ',') {
      if (out.empty()) out.emplace_back();
      out.emplace_back();
    }
    if (c == '[') ++depth;
  }
  return out;
}

/// Returns whether a value has only numbers, lists, true and false, so that it can stand in TOML as it is.
bool is_plain_value(std::string_view text) {
  return !text.empty() && text.size() < 200 &&
         text.find_first_not_of("0123456789,[]truefals-") == std::string_view::npos;
}

/// Returns the settings of a convolution by the positions of its arguments; empty for other operators.
std::string settings_of(const ExecutionTrace& trace, const ExecutionNode& node) {
  const std::string& name = trace.text(node.name);
  std::size_t stride = 0;
  bool is_backward = false;
  // Position of the stride; in backward one more tensor and the sizes of the bias stand in front.
  if (name == "aten::convolution" || name == "aten::_convolution") stride = 3;
  if (name == "aten::convolution_backward") stride = 4, is_backward = true;
  if (stride == 0) return "";
  const std::vector<std::string> values = list_values(trace.text(node.values));
  std::string out;
  const auto add = [&](std::string_view key, std::size_t place) {
    if (place < values.size() && is_plain_value(values[place]))
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", key, values[place]);
  };
  add("stride", stride);
  add("padding", stride + 1);
  add("dilation", stride + 2);
  add("transposed", stride + 3);
  add("groups", stride + 5);
  if (is_backward) add("output_mask", stride + 6);
  return out.empty() ? "" : ", with = { " + out + " }";
}

/// Walks the tree of calls and collects the operators of one step.
class ExecutionWalk {
 public:
  explicit ExecutionWalk(const ExecutionTrace& trace) : trace_(trace), tree_(tree_of(trace)) {}

  /// Walks all nodes. The results are the public members below.
  void run() {
    choose_step();
    for (const ExecutionNode& node : trace_.nodes) {
      if (is_in_step(node) && node.is_backward && node.sequence >= 0) sequences_.insert(node.sequence);
    }
    has_communication_ = std::ranges::any_of(trace_.nodes, [this](const ExecutionNode& node) {
      return is_in_step(node) && is_communication_call(trace_.text(node.name));
    });
    for (std::uint32_t i = 0; i < trace_.nodes.size(); ++i) {
      if (!visited(i)) visit(i, Around{});
    }
  }

  // Operators of both passes, in order; lists of tensors that the optimizer got; its name; whether it scales.
  std::vector<ExecutedOperator> forward, backward;
  std::vector<std::vector<std::string>> update_sizes;
  std::string optimizer;
  bool optimizer_scales = false;
  std::string step;

 private:
  /// Surroundings of a call: the optimizer's mark, or a node of autograd.
  struct Around {
    bool optimizer = false;
    // Node of autograd; empty: none.
    std::string node;
  };

  bool visited(std::uint32_t place) { return seen_.size() > place && seen_[place]; }
  bool is_engine(const ExecutionNode& node) const {
    return trace_.text(node.name).starts_with(kEnginePrefix);
  }
  bool is_in_step(const ExecutionNode& node) const { return node.id >= first_ && node.id < last_; }

  /// Chooses the second of several marked steps: during the first one libraries may still choose algorithms.
  void choose_step() {
    std::vector<const ExecutionNode*> marks;
    for (const ExecutionNode& node : trace_.nodes) {
      if (is_step_mark(trace_.text(node.name))) marks.push_back(&node);
    }
    seen_.assign(trace_.nodes.size(), false);
    if (marks.empty()) return;
    const std::size_t chosen = marks.size() > 1 ? 1 : 0;
    step = trace_.text(marks[chosen]->name);
    first_ = marks[chosen]->id;
    if (chosen + 1 < marks.size()) last_ = marks[chosen + 1]->id;
  }

  /// Visits a call and all calls in it, in order.
  void visit(std::uint32_t place, Around around) {
    // Files of others may nest deeply, so a list of what is left replaces recursion.
    std::vector<std::pair<std::uint32_t, Around>> left{{place, std::move(around)}};
    while (!left.empty()) {
      auto [at, inside] = std::move(left.back());
      left.pop_back();
      if (visited(at)) continue;
      seen_[at] = true;
      if (!enter(trace_.nodes[at], inside, tree_.children[at].empty())) {
        mark_all_below(at);
        continue;
      }
      const auto& children = tree_.children[at];
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        left.emplace_back(*child, inside);
    }
  }

  /// Marks all calls below one as visited, so that they are not taken for outer ones.
  void mark_all_below(std::uint32_t place) {
    std::vector<std::uint32_t> left{place};
    while (!left.empty()) {
      const std::uint32_t at = left.back();
      left.pop_back();
      seen_[at] = true;
      for (const std::uint32_t child : tree_.children[at]) {
        if (!seen_[child]) left.push_back(child);
      }
    }
  }

  /// Adds the size of an accumulated gradient to the operator before it.
  void add_ready(const ExecutionNode& node) {
    const std::vector<std::string> sizes = sizes_in(trace_.text(node.inputs));
    if (is_in_step(node) && !backward.empty() && !sizes.empty())
      backward.back().ready.push_back(sizes.front());
  }

  /// Returns whether to look inside of a call; adds it where it is an operator of the network.
  bool enter(const ExecutionNode& node, Around& around, bool is_leaf) {
    const std::string& name = trace_.text(node.name);
    if (is_optimizer_mark(name)) {
      around.optimizer = true;
      const std::size_t from = std::string_view("Optimizer.step#").size();
      if (is_in_step(node)) optimizer = name.substr(from, name.find('.', from) - from);
      return true;
    }
    // Work that is not the network's.
    if (is_zero_grad_mark(name) || is_loading_mark(name) || is_communication_call(name)) return false;
    // Calls inside belong to this node of autograd.
    if (is_engine(node)) {
      around.node = name.substr(kEnginePrefix.size());
      return true;
    }
    if (name == kAccumulateGrad) return add_ready(node), false;
    if (!name.starts_with("aten::")) return true;
    if (!is_in_step(node)) return false;
    // Calls of the optimizer tell its kind and the order of the parameters.
    if (around.optimizer) {
      optimizer_scales |= name == "aten::_foreach_mul_" || name == "aten::mul_";
      update_sizes.push_back(sizes_in(trace_.text(node.inputs)));
      return false;
    }
    if (around.node == kAccumulateGrad) return false;
    // On other threads than the main one, calls outside of a node may be helpers.
    if (around.node.empty() && node.thread != 0 && !is_forward(node))
      return !is_leaf && !is_known_inner(name);
    // An operator that only calls others is passed over, where one of these has a formula.
    if (!is_leaf && !is_known_inner(name) && has_known_inside(node)) return true;
    (around.node.empty() ? forward : backward).push_back({&node, around.node, {}});
    return false;
  }

  /// Returns whether an operator belongs to forward. What stands before the first operator that backward
  /// knows is DDP's work on buffers.
  bool is_forward(const ExecutionNode& node) {
    if (began_ || !has_communication_ || sequences_.empty()) return !is_behind_backward();
    began_ = node.sequence >= 0 && sequences_.contains(node.sequence);
    return began_;
  }
  bool is_behind_backward() const { return !backward.empty(); }

  /// Returns whether an operator with a formula is among the calls below; looks at the first 200.
  bool has_known_inside(const ExecutionNode& node) const {
    const auto place = static_cast<std::uint32_t>(
        std::ranges::lower_bound(trace_.nodes, node.id, {}, &ExecutionNode::id) - trace_.nodes.begin());
    std::vector<std::uint32_t> left = tree_.children[place];
    for (std::size_t i = 0; i < left.size() && i < 200; ++i) {
      if (is_known_inner(trace_.text(trace_.nodes[left[i]].name))) return true;
      left.insert(left.end(), tree_.children[left[i]].begin(), tree_.children[left[i]].end());
    }
    return false;
  }

  const ExecutionTrace& trace_;
  CallTree tree_;
  std::vector<bool> seen_;
  std::set<std::int32_t> sequences_;
  bool has_communication_ = false, began_ = false;
  std::uint64_t first_ = 0, last_ = ~std::uint64_t{0};
};

/// Returns sizes as a list in TOML, 64 tensors at most.
std::string sizes_list(std::string_view text) {
  std::string out;
  std::vector<std::string> sizes = sizes_in(text);
  // Tensors of a recorded operator, at most.
  constexpr std::size_t kMostTensors = 64;
  if (sizes.size() > kMostTensors) sizes.resize(kMostTensors);
  for (const std::string& size : sizes) out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", size);
  return "[" + out + "]";
}

/// Returns the line of an operator.
std::string executed_line(const ExecutionTrace& trace, const ExecutedOperator& op,
                          const std::vector<std::size_t>& ready) {
  std::string out = fmt::format("  {{ op = \"{}\"", quotable(trace.text(op.call->name)));
  if (!op.node.empty()) out += fmt::format(", pass = \"backward\", node = \"{}\"", quotable(op.node));
  out += fmt::format(", in = {}, out = {}", sizes_list(trace.text(op.call->inputs)),
                     sizes_list(trace.text(op.call->outputs)));
  out += settings_of(trace, *op.call);
  if (!ready.empty()) out += fmt::format(", ready = [{}]", fmt::join(ready, ", "));
  return out + " },\n";
}

/// Returns the first dimension of the first tensor that an operator takes, which is the batch.
std::optional<std::int64_t> first_dimension(const ExecutionTrace& trace,
                                            const std::vector<ExecutedOperator>& all) {
  for (const ExecutedOperator& op : all) {
    const std::vector<std::string> in = sizes_in(trace.text(op.call->inputs));
    if (in.empty() || in.front().ends_with("[]")) continue;
    const std::int64_t batch = elements_in(in.front().substr(0, in.front().find_first_of(",]")) + "]");
    if (batch > 0) return batch;
  }
  return std::nullopt;
}

}  // namespace

/// Mistakes about the step come before the text is made: a network needs both passes and a batch.
ImportedModel traced_network(const ExecutionTrace& trace, const ModelImportOptions& options) {
  const SourceText source{trace.file, ""};
  Diagnostics diagnostics(source);
  ExecutionWalk walk(trace);
  walk.run();
  const std::optional<std::int64_t> batch =
      options.batch ? options.batch : first_dimension(trace, walk.forward);
  if (walk.forward.empty() || walk.backward.empty())
    diagnostics.report({},
                       walk.forward.empty() ? "has no operators of a forward pass" : "has no backward pass",
                       "record a training step, with backward()");
  else if (!batch)
    diagnostics.report({}, "does not say how large the batch was", "say it, as in --batch 32");
  diagnostics.throw_if_any();
  // All gradients in the order in which backward completes them.
  std::vector<std::string> ready_sizes;
  for (const ExecutedOperator& op : walk.backward)
    ready_sizes.insert(ready_sizes.end(), op.ready.begin(), op.ready.end());
  const TracedParameters parameters = ordered_parameters(ready_sizes, walk.update_sizes);
  ImportedModel out;
  out.remarks.emplace_back("memory is not in an execution trace; times neither, so kernels are modelled");
  const std::string name = traced_name(trace.file, options);
  out.text = fmt::format("# Recorded as an execution trace{}: {}\n",
                         walk.step.empty() ? "" : ", " + walk.step, name);
  out.text += fmt::format("description = \"{}, traced\"\n", name);
  const std::string optimizer = optimizer_called(walk.optimizer, walk.optimizer_scales);
  if (!optimizer.empty()) out.text += fmt::format("optimizer = \"{}\"\n", optimizer);
  out.text +=
      fmt::format("\n[recorded]\nformat = 1\nby = \"execution trace {}\"\nbatch = {}\ngrows = false\n",
                  quotable(trace.schema), *batch);
  out.text += traced_parameter_lines(parameters) + "operators = [\n";
  for (const ExecutedOperator& op : walk.forward) out.text += executed_line(trace, op, {});
  // Gradients of all operators are numbered through, in the order in which they become complete.
  std::size_t next = 0;
  for (const ExecutedOperator& op : walk.backward) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < op.ready.size(); ++i) ready.push_back(parameters.of_ready[next++]);
    out.text += executed_line(trace, op, ready);
  }
  out.text += "]\n";
  return out;
}

}  // namespace foretrain
