// The data-set file: how many samples there are, how large, and what preparing one costs.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/data_set_keys.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

void read_data_set_keys(TableReader& reader, DataSet& set) {
  keep(reader.integer("samples", 1, 1'000'000'000'000), set.samples);
  positive_size(reader, "sample_bytes", set.sample_bytes);
  positive_size(reader, "stored_bytes", set.stored_bytes);
  keep(reader.time("decode"), set.decode);
  keep(reader.number("decode_spread", 0, 10), set.decode_spread);
  choose<StorageKind>(reader, "storage", choices_of<StorageKind>(kStorageNames), set.storage);
}

DataSet read_data_set(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  DataSet set;
  set.name = name_of_file(source.name);
  reader.require("description", "\"ImageNet-1k, JPEG files\"");
  reader.string("description");
  reader.require("samples", "1_281_167");
  reader.require("decode", "\"1.6 ms\"");
  read_data_set_keys(reader, set);
  reader.finish();
  return set;
}

}  // namespace foretrain
