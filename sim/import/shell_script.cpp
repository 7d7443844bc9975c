// Turns tokens into commands, one after the other. A stack of open blocks holds what if, case and loops make
// of them.
// Conditions that can be decided are tests of numbers and texts, as in [ "$SLURM_NNODES" -gt 1 ]; all others
// are unknown. Three-valued logic then says for each command whether it runs, does not run, or may run.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "sim/import/job_script.hpp"

namespace foretrain {

namespace {

/// Three truth values.
enum class Outcome : std::uint8_t { no, yes, unknown };

/// These three combine outcomes: a command runs only if all conditions around it hold.
Outcome both(Outcome a, Outcome b) {
  return a == Outcome::no || b == Outcome::no     ? Outcome::no
         : a == Outcome::yes && b == Outcome::yes ? Outcome::yes
                                                  : Outcome::unknown;
}
Outcome opposite(Outcome a) {
  return a == Outcome::unknown ? a : a == Outcome::yes ? Outcome::no : Outcome::yes;
}
Outcome truth(bool value) { return value ? Outcome::yes : Outcome::no; }

/// A block that is open. `taken` says whether its current branch runs, `done` whether an earlier branch of
/// the same if did.
struct Block {
  enum class Kind : std::uint8_t { condition, loop, choice, group };
  Kind kind = Kind::group;
  Outcome taken = Outcome::yes, done = Outcome::no;
  /// True between if and then.
  bool in_test = false;
  /// True in a case, where patterns stand.
  bool in_pattern = false;
};

/// Compares two numbers by the operator of a test.
Outcome compare_numbers(std::string_view how, std::int64_t a, std::int64_t b) {
  if (how == "-eq" || how == "==" || how == "=") return truth(a == b);
  if (how == "-ne" || how == "!=") return truth(a != b);
  if (how == "-gt" || how == ">") return truth(a > b);
  if (how == "-ge" || how == ">=") return truth(a >= b);
  if (how == "-lt" || how == "<") return truth(a < b);
  if (how == "-le" || how == "<=") return truth(a <= b);
  return Outcome::unknown;
}

/// Returns the outcome of a test such as [ a -gt b ] or [ -z a ], if all words are known.
Outcome test_of(std::vector<ShellWord> words) {
  if (words.size() < 3) return Outcome::unknown;
  words.erase(words.begin());
  if (words.back().text == "]" || words.back().text == "]]") words.pop_back();
  if (std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return !word.known; }))
    return Outcome::unknown;
  if (words.size() == 2 && words[0].text == "-z") return truth(words[1].text.empty());
  if (words.size() == 2 && words[0].text == "-n") return truth(!words[1].text.empty());
  if (words.size() != 3) return Outcome::unknown;
  const std::string& how = words[1].text;
  const auto a = whole_number(words[0].text), b = whole_number(words[2].text);
  if (a && b) return compare_numbers(how, *a, *b);
  // A text with "*" may be a pattern.
  if (words[2].text.find('*') != std::string::npos) return Outcome::unknown;
  if (how == "=" || how == "==") return truth(words[0].text == words[2].text);
  if (how == "!=") return truth(words[0].text != words[2].text);
  return Outcome::unknown;
}

/// Returns the outcome of (( a > b )) with known values.
Outcome arithmetic_test(std::string_view expression, ShellValues& values) {
  // Longer signs stand before those that they begin with.
  static constexpr std::array<std::string_view, 6> kSigns{">=", "<=", "==", "!=", ">", "<"};
  for (const std::string_view sign : kSigns) {
    const std::size_t at = expression.find(sign);
    if (at == std::string_view::npos) continue;
    const auto a = values.evaluate(expression.substr(0, at)),
               b = values.evaluate(expression.substr(at + sign.size()));
    return a && b ? compare_numbers(sign, *a, *b) : Outcome::unknown;
  }
  return Outcome::unknown;
}

/// Says whether a text can be the name of a variable.
bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

/// Returns an unquoted word of plain text; empty for other tokens.
std::string_view plain_text(const ShellToken& token) {
  const bool plain = token.kind == ShellToken::Kind::word && !token.quoted && token.parts.size() == 1 &&
                     token.parts[0].kind == WordPart::Kind::text;
  return plain ? std::string_view(token.parts[0].text) : std::string_view();
}

/// Reads the tokens of one script. Words are collected until an operator ends the command.
class ShellReader {
 public:
  explicit ShellReader(ShellValues& values) : values_(values) {}

  std::vector<ShellCommand> read(const std::vector<ShellToken>& tokens) {
    for (const ShellToken& token : tokens) take(token);
    end_command("\n");
    return std::move(commands_);
  }

 private:
  /// Takes one token.
  void take(const ShellToken& token) {
    if (token.kind == ShellToken::Kind::here) return take_here(token);
    if (!blocks_.empty() && blocks_.back().in_pattern) return take_pattern(token);
    if (token.kind == ShellToken::Kind::op) return end_command(token.text);
    // Keywords count only where a command begins.
    if (words_.empty() && is_keyword(plain_text(token))) return take_keyword(plain_text(token));
    words_.push_back(&token);
  }

  /// Gives the body of a here-document to the last command of its line, which it follows.
  void take_here(const ShellToken& token) {
    if (last_ == kNone || last_ >= commands_.size() || commands_[last_].here_line > 0) return;
    std::string body = token.text;
    if (!token.quoted && body.find_first_of("$`") != std::string::npos)
      body = without_marks(values_.expand(scan_quoted(body)));
    commands_[last_].here = std::move(body);
    commands_[last_].here_line = token.span.line;
  }

  /// Skips the patterns of a case.
  void take_pattern(const ShellToken& token) {
    const bool ends_choice = plain_text(token) == "esac";
    if (ends_choice) return close(Block::Kind::choice);
    if (token.kind == ShellToken::Kind::op && token.text == ")") blocks_.back().in_pattern = false;
  }

  /// Says whether a word is a keyword where a command may begin. "for" and "case" are handled with their
  /// words.
  static bool is_keyword(std::string_view word) {
    return is_one_of(word, {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "{",
                            "}", "!", "function"});
  }

  /// Opens and closes blocks and branches.
  void take_keyword(std::string_view word) {
    last_ = kNone;
    if (word == "if") open({Block::Kind::condition, Outcome::yes, Outcome::no, true});
    if (word == "while" || word == "until") open({Block::Kind::loop});
    if (word == "{") open({});
    if (word == "}") close(Block::Kind::group);
    if (word == "fi") close(Block::Kind::condition);
    if (word == "done") close(Block::Kind::loop);
    if (word == "esac") close(Block::Kind::choice);
    if (word == "!") negated_ = true;
    Block* branch =
        blocks_.empty() || blocks_.back().kind != Block::Kind::condition ? nullptr : &blocks_.back();
    if (branch == nullptr) return;
    if (word == "then") begin_branch(*branch, condition_);
    if (word == "elif" || word == "else") next_branch(*branch, word == "elif");
  }

  /// Begins the branch behind then: it runs if its condition holds and no earlier branch was taken.
  static void begin_branch(Block& block, Outcome condition) {
    block.in_test = false;
    block.taken = both(opposite(block.done), condition);
    if (block.taken != Outcome::no)
      block.done = block.taken == Outcome::yes  ? Outcome::yes
                   : block.done == Outcome::yes ? Outcome::yes
                                                : Outcome::unknown;
  }

  /// Begins elif or else, which run only if no earlier branch was taken.
  void next_branch(Block& block, bool has_test) {
    block.taken = opposite(block.done);
    block.in_test = has_test;
    condition_ = Outcome::unknown, tests_ = 0;
  }

  /// Opens a block. The limit keeps hostile texts from filling the memory.
  void open(Block block) {
    if (blocks_.size() < 256) blocks_.push_back(block);
    condition_ = Outcome::unknown, tests_ = 0;
  }

  /// Closes the innermost block of a kind, with all that are open inside of it.
  void close(Block::Kind kind) {
    const auto last = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                   [kind](const Block& block) { return block.kind == kind; });
    if (last != blocks_.rend()) blocks_.erase(std::prev(last.base()), blocks_.end());
  }

  /// Returns whether the current command is run.
  Outcome runs() const {
    Outcome all = linked_;
    for (const Block& block : blocks_) all = both(all, block.taken);
    return all;
  }
  /// Says whether the current command stands in a loop.
  bool repeats() const {
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [](const Block& block) { return block.kind == Block::Kind::loop; });
  }

  /// Ends the command at an operator or line end.
  void end_command(std::string_view sign) {
    if (sign == "(" && words_.empty()) return open({});
    // "name()" begins a function; its body is read as if it were called where it stands.
    const bool is_function = sign == "(" && words_.size() == 1;
    if (is_function) return words_.clear(), void(names_function_ = true);
    if (sign == ")" && std::exchange(names_function_, false)) return;
    const bool is_choice = !words_.empty() && plain_text(*words_.front()) == "case";
    Outcome status = Outcome::unknown;
    if (!words_.empty()) status = finish_words();
    if (is_choice) blocks_.back().in_pattern = sign != ")";  // case $x in a) … on one line
    if (sign == ")" && !is_choice) close(Block::Kind::group);
    if (sign == ";;" && !blocks_.empty() && blocks_.back().kind == Block::Kind::choice)
      blocks_.back().in_pattern = true;
    link(sign, status);
  }

  /// Links the next command behind "&&" and "||" to the status of this one. Only tests decide; other commands
  /// are taken to succeed.
  void link(std::string_view sign, Outcome status) {
    const bool and_then = sign == "&&", or_else = sign == "||";
    if (and_then)
      linked_ = was_test_ ? both(linked_, status) : linked_;
    else if (or_else)
      linked_ = was_test_ ? both(linked_, opposite(status)) : both(linked_, Outcome::unknown);
    else
      linked_ = Outcome::yes;
    if (sign != "&") was_test_ = was_test_ && (and_then || or_else);
  }

  /// Reads the collected words as a test, a loop, a case or a command, and returns its status.
  Outcome finish_words() {
    std::vector<const ShellToken*> words;
    words.swap(words_);
    const bool negated = std::exchange(negated_, false);
    const std::string_view first = plain_text(*words.front());
    if (first == "for" || first == "select") return begin_loop(words), Outcome::unknown;
    if (first == "case") return begin_choice(), Outcome::unknown;
    Outcome status = Outcome::unknown;
    was_test_ = is_one_of(first, {"[", "[[", "test", "(("});
    if (was_test_)
      status =
          first == "((" ? arithmetic_test(words.back()->parts[0].text, values_) : test_of(expand(words, 0));
    else if (runs() != Outcome::no)
      run(words);
    if (negated) status = opposite(status);
    // Several tests in one condition count only together, which is not followed.
    if (!blocks_.empty() && blocks_.back().in_test) condition_ = ++tests_ == 1 ? status : Outcome::unknown;
    return status;
  }

  /// Begins a loop. Its variable is known only if it has a single value.
  void begin_loop(const std::vector<const ShellToken*>& words) {
    open({Block::Kind::loop});
    if (words.size() < 2 || !is_name(plain_text(*words[1]))) return;
    const std::string name(plain_text(*words[1]));
    const std::vector<ShellWord> values = words.size() > 3 ? expand(words, 3) : std::vector<ShellWord>{};
    if (values.size() == 1 && values[0].known && values[0].text.find_first_of("*?{[") == std::string::npos)
      values_.set(name, values[0].text);
    else
      values_.forget(name);
  }

  /// Begins a case. Which pattern matches is never known.
  void begin_choice() {
    Block block{Block::Kind::choice, Outcome::unknown};
    block.in_pattern = true;
    open(block);
  }

  /// Returns the words behind `from`, expanded.
  std::vector<ShellWord> expand(const std::vector<const ShellToken*>& words, std::size_t from) {
    std::vector<ShellWord> out;
    for (std::size_t i = from; i < words.size(); ++i) {
      for (ShellWord& word : values_.expand_word(*words[i])) out.push_back(std::move(word));
    }
    return out;
  }

  /// Returns the name in NAME=… or NAME+=…; empty when the word is no assignment.
  static std::string assigned_name(const ShellToken& word, bool& appends) {
    if (word.parts.empty() || word.parts[0].kind != WordPart::Kind::text || word.parts[0].quoted) return {};
    const std::string& text = word.parts[0].text;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return {};
    appends = text[equals - 1] == '+';
    const std::string name = text.substr(0, equals - (appends ? 1 : 0));
    return is_name(name) ? name : std::string();
  }

  /// Returns a value that elements are appended to. A plain value becomes the first element.
  static std::string as_elements(const std::string& value) {
    if (value == std::string_view(&kElement, 1)) return {};
    return value.starts_with(kElement) ? value : kElement + value;
  }

  /// Carries out an assignment. If it may not be run, or is repeated with a changing value, the variable
  /// becomes unknown.
  void assign(const ShellToken& word, const std::string& name, bool appends) {
    ShellToken value = word;
    value.parts[0].text.erase(0, value.parts[0].text.find('=') + 1);
    const bool is_list = value.parts.size() == 2 && value.parts[1].kind == WordPart::Kind::list;
    if (is_list && value.parts[1].is_open) values_.open_list = word.span;
    std::string text = is_list ? values_.expand_list(value.parts[1].text) : values_.expand(value.parts);
    // The old value is needed for +=, which appends text or elements.
    const std::string* before = values_.raw(name);
    if (appends && is_list)
      text = before == nullptr ? text : as_elements(*before) + (text.size() > 1 ? text : "");
    else if (appends)
      text = (before != nullptr ? *before : kUnknown + ("${" + name + "}")) + text;
    // An assignment that changes nothing keeps the value, whether it runs or not.
    const bool same = before != nullptr && *before == text;
    const bool fixed = std::all_of(value.parts.begin(), value.parts.end(),
                                   [](const WordPart& part) { return part.kind == WordPart::Kind::text; });
    const bool is_sure = runs() == Outcome::yes && (!repeats() || (fixed && !appends));
    if (is_sure && text.size() <= kLongestValue)
      values_.set(name, std::move(text));
    else if (!same)
      values_.forget(name);
  }

  /// Takes a command that may run: an assignment changes variables, all else becomes a command.
  void run(const std::vector<const ShellToken*>& words) {
    std::size_t i = 0;
    bool appends = false;
    const bool only_assigns = std::all_of(words.begin(), words.end(), [&](const ShellToken* word) {
      return !assigned_name(*word, appends).empty();
    });
    const bool declares =
        is_one_of(plain_text(*words[0]), {"export", "declare", "local", "readonly", "typeset"});
    if (only_assigns || declares) {
      for (const ShellToken* word : words) {
        const std::string name = assigned_name(*word, appends);
        if (!name.empty()) assign(*word, name, appends);
      }
      last_ = kNone;
      return;
    }
    // NAME=value before a command holds for that command alone.
    while (i < words.size() && !assigned_name(*words[i], appends).empty()) ++i;
    ShellCommand command{expand(words, i), runs() == Outcome::yes, repeats()};
    // A command may expand to nothing, as an unset variable does.
    if (command.words.empty()) return;
    forget_changed(command);
    last_ = commands_.size();
    commands_.push_back(std::move(command));
  }

  /// Makes variables unknown that a command reads or unsets.
  void forget_changed(const ShellCommand& command) {
    if (!is_one_of(command.words[0].text, {"read", "unset", "mapfile", "readarray", "getopts", "let"}))
      return;
    for (const ShellWord& word : command.words) {
      if (is_name(word.text)) values_.forget(word.text);
    }
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  ShellValues& values_;
  std::vector<ShellCommand> commands_;
  /// Words of the current command.
  std::vector<const ShellToken*> words_;
  /// Blocks from the outermost to the innermost.
  std::vector<Block> blocks_;
  /// Outcome of the condition before then, and of the list of && and
  /// so far.
  Outcome condition_ = Outcome::unknown, linked_ = Outcome::yes;
  /// Number of tests in the current condition.
  int tests_ = 0;
  bool was_test_ = false, negated_ = false, names_function_ = false;
  /// Index of the last command, which a here-document may belong to.
  std::size_t last_ = kNone;
};

}  // namespace

std::vector<ShellCommand> read_commands(std::string_view text, ShellValues& values, int first_line) {
  return ShellReader(values).read(scan_shell(text, first_line));
}

}  // namespace foretrain
