// The data-set file: how many samples there are, how large they are, and what preparing one costs. The keys
// are also those of [data] in a scenario, which override the file's.
// description = "ImageNet-1k, JPEG files"
// samples = 1_281_167
// decode = "1.6 ms"
// storage = "lustre"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/data_set_keys.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

/// No key is required here, because [data] of a scenario has the same keys.
const Keys<DataSet>& data_set_keys() {
  static const Keys<DataSet> keys{
      {"samples", takes::integer<&DataSet::samples>(1, 1'000'000'000'000), "1_281_167", "unknown",
       "per epoch, over all GPUs; without it an epoch is one step"},
      {"sample_bytes", takes::size<&DataSet::sample_bytes>(), "\"588 KiB\"", "input in fp32 plus label",
       "what is copied to the GPU per sample"},
      {"decode", takes::time<&DataSet::decode>(), "\"1.6 ms\"", "0 s",
       "reading and augmenting one sample on the reference core (Zen 5); multiplied by the cluster's "
       "host.slowdown"},
      {"stored_bytes", takes::size<&DataSet::stored_bytes>(), "\"110 kB\"", "sample_bytes",
       "what is read from storage per sample: the size of a JPEG file"},
      {"decode_spread", takes::number<&DataSet::decode_spread>(0, 10), "0.5", "0",
       "standard deviation of decode over samples / its mean"},
      {"storage", takes::choice<&DataSet::storage>(choices_of<StorageKind>(kStorageNames)), "\"lustre\"",
       "none", "where samples are read from; none: they are in memory or made on the spot"},
  };
  return keys;
}

/// A data set's file needs some keys that are optional in a scenario.
DataSet read_data_set(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader reader(table, "", diagnostics);
  DataSet set;
  set.name = name_of_file(source.name);
  reader.require("description", "\"ImageNet-1k, JPEG files\"");
  reader.string("description");
  reader.require("samples", "1_281_167");
  reader.require("decode", "\"1.6 ms\"");
  read_keys(reader, data_set_keys(), set);
  reader.finish();
  return set;
}

}  // namespace foretrain
