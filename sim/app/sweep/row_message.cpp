// Encodes requests and answers as bytes. Both ends are the same program on the same machine, so numbers keep
// their byte order and every bit.
#include "sim/app/sweep/row_message.hpp"

#include <cstring>
#include <stdexcept>

namespace foretrain {

namespace {

// Type of an encoded value; one byte before the value itself.
enum class Cell : std::uint8_t { nothing, flag, integer, number, text };

/// Appends the bytes of a number.
template <class Number>
void put(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

/// Appends the length in four bytes, then the text.
void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

/// Appends the type of the value and the value.
void put_cell(std::string& out, const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value.data))
    put(out, Cell::flag), put(out, *flag);
  else if (const auto* integer = std::get_if<std::int64_t>(&value.data))
    put(out, Cell::integer), put(out, *integer);
  else if (const auto* number = std::get_if<double>(&value.data))
    put(out, Cell::number), put(out, *number);
  else if (const auto* text = std::get_if<std::string>(&value.data))
    put(out, Cell::text), put_text(out, *text);
  else
    put(out, Cell::nothing);
}

/// Reads a message from its front. A message that is too short is an error of this program: std::length_error
/// is thrown.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : left_(bytes) {}

  /// Returns the next number.
  template <class Number>
  Number take() {
    Number out{};
    std::memcpy(&out, taken(sizeof out).data(), sizeof out);
    return out;
  }
  std::string text() { return std::string(taken(take<std::uint32_t>())); }
  std::string rest() { return std::string(taken(left_.size())); }

  /// Returns the next value with the type that stands before it.
  Value cell() {
    switch (take<Cell>()) {
      case Cell::flag:
        return {take<bool>()};
      case Cell::integer:
        return {take<std::int64_t>()};
      case Cell::number:
        return {take<double>()};
      case Cell::text:
        return {text()};
      case Cell::nothing:
        break;
    }
    return {};
  }

 private:
  /// Returns the next bytes and removes them from what is left.
  std::string_view taken(std::size_t bytes) {
    if (bytes > left_.size()) throw std::length_error("a message of a worker is cut off");
    const std::string_view out = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return out;
  }
  std::string_view left_;
};

/// Returns an answer of this kind that only has a text.
std::string message_of(WorkerAnswer::Kind kind, std::string_view text) {
  std::string out;
  put(out, kind);
  return out.append(text);
}

}  // namespace

// Layout: number of the first case, count, then the numbers of GPUs.
std::string request_message(std::int64_t first, const std::vector<int>& gpus) {
  std::string out;
  put(out, first), put(out, static_cast<std::uint32_t>(gpus.size()));
  for (const int number : gpus) put(out, number);
  return out;
}

CaseRequest read_request(std::string_view message) {
  MessageReader bytes(message);
  CaseRequest out{bytes.take<std::int64_t>(), std::vector<int>(bytes.take<std::uint32_t>())};
  for (int& number : out.gpus) number = bytes.take<int>();
  return out;
}

std::string ready_message() { return message_of(WorkerAnswer::Kind::ready, ""); }
std::string failure_message(std::string_view text) { return message_of(WorkerAnswer::Kind::failure, text); }
std::string environment_message(std::string_view text) {
  return message_of(WorkerAnswer::Kind::environment, text);
}

// Layout: kind, count of rows; of each row its message, count of figures, and the figures.
std::string rows_message(const std::vector<CaseRow>& rows) {
  std::string out = message_of(WorkerAnswer::Kind::rows, "");
  put(out, static_cast<std::uint32_t>(rows.size()));
  for (const CaseRow& row : rows) {
    put_text(out, row.message);
    put(out, static_cast<std::uint32_t>(row.figures.size()));
    for (const Value& figure : row.figures) put_cell(out, figure);
  }
  return out;
}

// A failure has only a text, which is the rest of the message.
WorkerAnswer read_answer(std::string_view message) {
  MessageReader bytes(message);
  WorkerAnswer out;
  out.kind = bytes.take<WorkerAnswer::Kind>();
  if (out.kind != WorkerAnswer::Kind::rows) {
    out.text = bytes.rest();
    return out;
  }
  out.rows.resize(bytes.take<std::uint32_t>());
  for (CaseRow& row : out.rows) {
    row.message = bytes.text();
    row.figures.resize(bytes.take<std::uint32_t>());
    for (Value& figure : row.figures) figure = bytes.cell();
  }
  return out;
}

}  // namespace foretrain
