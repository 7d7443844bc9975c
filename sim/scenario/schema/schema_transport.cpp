// The transport file: the keys of transport_keys(), each read as the type of its member.
#include <fmt/format.h>

#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Largest number of parallel streams.
constexpr int kMostStreams = 1024;

/// Reads members of a transport, with one getter per type. A missing key keeps the member's value.
class TransportReader {
 public:
  TransportReader(TableReader& reader, Transport& transport) : reader_(reader), transport_(transport) {}

  // The type of the member decides how the value is read.
  void read(const TransportKey& key) {
    std::visit([&](auto member) { keep(key.name, transport_.*member); }, key.field);
  }

 private:
  // A library is one of transport_libraries().
  void keep(std::string_view key, std::string& out) {
    std::vector<std::string> known;
    for (const TransportLibrary& library : transport_libraries()) known.emplace_back(library.name);
    out = reader_.one_of(key, known).value_or("");
  }
  void keep(std::string_view key, Time& out) { out = reader_.time(key).value_or(out); }
  void keep(std::string_view key, Bytes& out) { out = reader_.bytes(key).value_or(out); }
  // A rate of zero would make transfers endless.
  void keep(std::string_view key, ByteRate& out) {
    const auto rate = reader_.byte_rate(key);
    if (rate && rate->per_second < 1)
      reader_.report(reader_.span_of(key), fmt::format("{} must be at least one byte per second", key));
    out = rate.value_or(out);
  }
  void keep(std::string_view key, double& out) { out = reader_.number(key, 0.01, 1).value_or(out); }
  void keep(std::string_view key, int& out) {
    out = static_cast<int>(reader_.integer(key, 1, kMostStreams).value_or(out));
  }

  TableReader& reader_;
  Transport& transport_;
};

}  // namespace

/// Keys that the file lacks keep the values of Transport.
Transport read_transport(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  Transport transport;
  reader.require("library", "\"gloo\"");
  TransportReader members(reader, transport);
  for (const TransportKey& key : transport_keys()) members.read(key);
  reader.finish();
  return transport;
}

}  // namespace foretrain
