// Small traces for tests: events as Kineto writes them, and gzip without compression.
#pragma once

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/import/traces/trace_file.hpp"

namespace foretrain::test {

inline std::string kineto(const std::string& events) {
  return R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[)" + events + "]}";
}

inline TraceFile read_text(const std::string& text, const TraceLimits& limits = {}) {
  std::istringstream in(text);
  return read_trace(in, "t.json", limits);
}

inline Trace read_events(const std::string& events) { return *read_text(kineto(events)).timed; }

/// What reading refuses, in words; empty when it does not.
inline std::string refused(const std::string& text, const TraceLimits& limits = {}) {
  try {
    read_text(text, limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline std::uint32_t crc_of(std::string_view text) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB8'8320 : 0);
  }
  return ~crc;
}

/// One member of stored blocks.
inline std::string gzipped(std::string_view text) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  const auto number = [&out](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  };
  for (std::size_t at = 0; at < text.size() || at == 0; at += 60'000) {
    const std::string_view block = text.substr(at, 60'000);
    const bool is_last = at + 60'000 >= text.size();
    number(is_last ? 1 : 0, 1);
    number(static_cast<std::uint32_t>(block.size()), 2);
    number(~static_cast<std::uint32_t>(block.size()), 2);
    out += block;
  }
  number(crc_of(text), 4);
  number(static_cast<std::uint32_t>(text.size()), 4);
  return out;
}

/// A call on the host, and work that it put on the GPU; times in microseconds.
inline std::string op(std::string_view name, int thread, double start, double length,
                      const std::string& arguments = "") {
  return R"({"ph":"X","cat":"cpu_op","name":")" + std::string(name) + R"(","pid":1,"tid":)" +
         std::to_string(thread) + ",\"ts\":" + std::to_string(start) + ",\"dur\":" + std::to_string(length) +
         ",\"args\":{" + arguments + "}}";
}
inline std::string mark(std::string_view name, double start, double length) {
  return R"({"ph":"X","cat":"user_annotation","name":")" + std::string(name) + R"(","pid":1,"tid":1,"ts":)" +
         std::to_string(start) + ",\"dur\":" + std::to_string(length) + "}";
}
inline std::string launched(std::string_view name, int number, double asked, double start, double length,
                            int stream = 7, const std::string& arguments = "") {
  const std::string id = std::to_string(number);
  return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" +
         std::to_string(asked) + R"(,"dur":2,"args":{"correlation":)" + id + "}},\n" +
         R"({"ph":"X","cat":"kernel","name":")" + std::string(name) + R"(","pid":0,"tid":)" +
         std::to_string(stream) + ",\"ts\":" + std::to_string(start) + ",\"dur\":" + std::to_string(length) +
         R"(,"args":{"device":0,"stream":)" + std::to_string(stream) + ",\"correlation\":" + id +
         (arguments.empty() ? "" : "," + arguments) + "}}";
}

}  // namespace foretrain::test
