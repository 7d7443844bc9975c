// [data]: presets and the keys over them, loaders and their threads, and what cannot work.
#include "sim/scenario/sections/data_section.hpp"

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace data_section_test {

using namespace foretrain;

namespace {

Scenario with_data(const std::string& data, const std::string& more = "") {
  const std::string head =
      "[model]\nname = \"mnist_net\"\n" + more + "[cluster]\nname = \"puhti\"\n[run]\ngpus = [1, 4]\n";
  return read_scenario({"s.toml", head + "[data]\n" + data}, {});
}

std::string mistake_in(const std::string& data, const std::string& more = "") {
  try {
    with_data(data, more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

bool warns(const Scenario& scenario, const std::string& part) {
  for (const std::string& warning : scenario.warnings) {
    if (warning.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a data set's preset is read first and explicit keys replace its values") {
  const DataSet plain = with_data("name = \"imagenet\"\n").workload.data;
  CHECK(plain.samples == 1'281'167);
  CHECK(plain.stored_bytes.count == 110'000);
  CHECK(to_seconds(plain.decode) == Approx(1.611e-3));
  CHECK(plain.storage == StorageKind::nvme);
  CHECK(plain.loader == LoaderKind::torch);
  const DataSet changed =
      with_data("name = \"imagenet\"\nsamples = 1000\nstorage = \"lustre\"\n").workload.data;
  CHECK(changed.samples == 1000);
  CHECK(changed.storage == StorageKind::lustre);
  CHECK(changed.stored_bytes.count == 110'000);
}

TEST_CASE("every data set of the catalog can be read and says where its cost comes from") {
  const auto names = names_in(CatalogKind::datasets);
  CHECK(names == std::vector<std::string>{"cifar10", "cifar100", "coco", "imagenet", "mnist", "synthetic",
                                          "wikitext"});
  for (const std::string& name : names) {
    INFO(name);
    const SourceText source = open_named(CatalogKind::datasets, name).value();
    Diagnostics diagnostics(source);
    const DataSet set = read_data_set(source, diagnostics);
    CHECK(diagnostics.empty());
    CHECK(set.samples > 0);
    CHECK(set.decode > Time::zero());
    const std::size_t decode = source.text.find("\ndecode = ");
    const std::string line = source.text.substr(decode + 1, source.text.find('\n', decode + 1) - decode - 1);
    CHECK((line.find("measured") != std::string::npos || line.find("assumed") != std::string::npos));
  }
}

TEST_CASE("unknown data sets, storages and loaders are mistakes with the nearest name") {
  CHECK_THAT(mistake_in("name = \"imagnet\"\n"),
             ContainsSubstring("unknown data set \"imagnet\"") && ContainsSubstring("imagenet"));
  CHECK_THAT(mistake_in("storage = \"luster\"\n"), ContainsSubstring("lustre"));
  CHECK_THAT(mistake_in("loader = \"dali\"\n"), ContainsSubstring("dali_gpu"));
}

TEST_CASE("sizes and times that are negative or zero are mistakes at their place") {
  CHECK_THAT(mistake_in("stored_bytes = \"-1 kB\"\n"), ContainsSubstring("stored_bytes"));
  CHECK_THAT(mistake_in("stored_bytes = \"0 B\"\n"),
             ContainsSubstring("data.stored_bytes must be at least one byte"));
  CHECK_THAT(mistake_in("decode = \"-1 ms\"\n"), ContainsSubstring("decode"));
  CHECK_THAT(mistake_in("decode_spread = -0.5\ndecode = \"1 ms\"\n"), ContainsSubstring("decode_spread"));
  CHECK_THAT(mistake_in("workers_per_gpu = -1\n"), ContainsSubstring("workers_per_gpu"));
}

TEST_CASE("without a word about loading, batches lie on the GPU") {
  CHECK(with_data("samples = 1000\n").workload.data.loader == LoaderKind::none);
  CHECK(with_data("samples = 1000\ndecode = \"1 ms\"\n").workload.data.loader == LoaderKind::torch);
  CHECK(with_data("workers_per_gpu = 0\n").workload.data.loader == LoaderKind::torch);
}

TEST_CASE("threads are as many as the rank has cores unless they are counted") {
  CHECK(with_data("loader = \"tf_data\"\n").workload.data.workers_per_gpu ==
        10);  // Puhti: 40 cores for 4 GPUs
  CHECK(with_data("loader = \"dali_gpu\"\ncores_per_gpu = 3\n").workload.data.workers_per_gpu == 3);
  CHECK(with_data("loader = \"dali_gpu\"\nworkers_per_gpu = 5\n").workload.data.workers_per_gpu == 5);
  CHECK(with_data("decode = \"1 ms\"\n").workload.data.workers_per_gpu == 4);
}

TEST_CASE("more workers than cores are warned of, with what happens") {
  CHECK(warns(with_data("workers_per_gpu = 12\n"), "12 loader workers per GPU share 10 cores"));
  CHECK_FALSE(warns(with_data("workers_per_gpu = 10\n"), "share"));
  CHECK_FALSE(warns(with_data("workers_per_gpu = 0\n"), "share"));
}

TEST_CASE("an epoch without any step is a mistake, one with a single partial step a warning") {
  CHECK_THAT(mistake_in("samples = 100\ndrop_last = true\n", "batch_per_gpu = 32\n"),
             ContainsSubstring("an epoch on 4 GPUs has no step") &&
                 ContainsSubstring("the data set has 100 samples, a step takes 128"));
  CHECK(mistake_in("samples = 128\ndrop_last = true\n", "batch_per_gpu = 32\n") == "none");
  CHECK_THAT(mistake_in("samples = 100\ndrop_last = true\n", "global_batch = 101\n"),
             ContainsSubstring("an epoch on 1 GPU has no step"));
  CHECK(warns(with_data("samples = 20\n", "batch_per_gpu = 32\n"), "an epoch is one partial step"));
  CHECK_FALSE(warns(with_data("samples = 32\n", "batch_per_gpu = 32\n"), "partial step"));
}

TEST_CASE("keys that a loader or storage makes idle are warned of") {
  CHECK(warns(with_data("loader = \"none\"\ndecode = \"1 ms\"\n"),
              "data.decode has no effect with loader none"));
  CHECK(warns(with_data("loader = \"tf_data\"\npinned = false\n"), "data.pinned has no effect"));
  CHECK(
      warns(with_data("decode = \"1 ms\"\ncached = true\n"), "data.cached has no effect with storage none"));
  CHECK_FALSE(warns(with_data("loader = \"dali_gpu\"\nstored_bytes = \"1 kB\"\n"), "stored_bytes"));
}

TEST_CASE("a cluster file says what is known of its storage, over the usual figures") {
  const std::string cluster = open_named(CatalogKind::clusters, "perlmutter")->text;
  const SourceText source{"c.toml", cluster};
  Diagnostics diagnostics(source);
  const ClusterSpec spec = read_cluster(source, diagnostics);
  REQUIRE(spec.storage.size() == 1);
  CHECK(spec.storage[0].kind == StorageKind::lustre);
  CHECK(spec.storage[0].job.per_second == 7e12);
  CHECK(spec.storage[0].node.per_second == usual_storage(StorageKind::lustre).node.per_second);
}

TEST_CASE("mistakes in a cluster's storage are found") {
  const std::string cluster = open_named(CatalogKind::clusters, "perlmutter")->text;
  const auto mistakes = [&](const std::string& more) {
    const SourceText source{"c.toml", cluster + more};
    Diagnostics diagnostics(source);
    read_cluster(source, diagnostics);
    return diagnostics.empty() ? std::string() : diagnostics.found().front().message;
  };
  CHECK_THAT(mistakes("[storage.luster]\n"), ContainsSubstring("luster"));
  CHECK_THAT(mistakes("[storage.nfs]\njob_bandwidth = \"0 GBps\"\n"),
             ContainsSubstring("storage.nfs.job_bandwidth must be at least"));
  CHECK_THAT(mistakes("[storage.nfs]\nspeed = \"1 GBps\"\n"), ContainsSubstring("speed"));
}

}  // namespace data_section_test
