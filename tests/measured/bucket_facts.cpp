// DDP's buckets to the byte: what PyTorch 1.13 reports of itself for 17 networks and the options that change
// buckets (docs/measured/pytorch/ddp_buckets*.json: two processes over gloo, _get_ddp_logging_data), and
// sizes derived by its own algorithm from lists of parameters (derived_buckets.json).
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured_json.hpp"
#include "tests/support/model_file.hpp"

namespace bucket_facts {

using namespace foretrain;
using nlohmann::json;
using test::model_file;

namespace {

json facts(const std::string& file) { return test::measured_json("pytorch/" + file); }

std::vector<std::int64_t> sizes_of(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : buckets) sizes.push_back(bucket.size.count);
  return sizes;
}

/// "7 6 5 4, 2 3 0 1", as PyTorch writes the parameters of each bucket.
std::string members_of(const std::vector<Bucket>& buckets) {
  std::string text;
  for (const Bucket& bucket : buckets) {
    if (!text.empty()) text += ", ";
    for (const std::uint32_t parameter : bucket.parameters) text += std::to_string(parameter) + " ";
    text.pop_back();
  }
  return text;
}

/// The options that PyTorch was given, by its own names.
DdpOptions options_of(const json& given) {
  DdpOptions options;
  options.bucket_cap = {given.value("bucket_cap_mb", 25) << 20};
  options.find_unused_parameters = given.value("find_unused_parameters", false);
  options.static_graph = given.value("static_graph", false);
  return options;
}

/// Buckets that are rebuilt after the first step are listed with their members; those that are not only with
/// their sizes.
void check_reported(const std::string& name, const json& reported, const DdpOptions& options) {
  INFO(name);
  const std::vector<Bucket> buckets = form_buckets(model_file(name), options);
  const bool rebuilt = !reported.at("rebuilt_bucket_sizes").is_null();
  CHECK(rebuilt == (!options.find_unused_parameters || options.static_graph));
  CHECK(sizes_of(buckets) == reported.at(rebuilt ? "rebuilt_bucket_sizes" : "initial_bucket_sizes")
                                 .get<std::vector<std::int64_t>>());
  if (rebuilt)
    CHECK(members_of(buckets) == reported.at("rebuilt_per_bucket_param_indices").get<std::string>());
}

/// How many networks a file has.
std::size_t check_file(const std::string& file) {
  INFO(file);
  const json all = facts(file);
  const DdpOptions options = options_of(all.at("kw"));
  for (const auto& [name, reported] : all.at("models").items()) check_reported(name, reported, options);
  return all.at("models").size();
}

}  // namespace

TEST_CASE("the buckets of 17 networks are those that PyTorch reports, parameter by parameter") {
  CHECK(check_file("ddp_buckets.json") == 17);
}

TEST_CASE("the buckets with caps of 1 and 10 MiB are those that PyTorch reports") {
  CHECK(check_file("ddp_buckets_cap1.json") == 3);
  CHECK(check_file("ddp_buckets_cap10.json") == 4);
}

TEST_CASE(
    "the buckets of a static graph and of a search for unused parameters are those that PyTorch reports") {
  CHECK(check_file("ddp_buckets_static.json") == 2);
  CHECK(check_file("ddp_buckets_find_unused.json") == 5);
}

TEST_CASE("the buckets of 21 networks are those derived by PyTorch's algorithm, also of 16-bit weights") {
  using Sizes = std::vector<std::int64_t>;
  const json all = facts("derived_buckets.json");
  DdpOptions plain, unused;
  unused.find_unused_parameters = true;
  for (const auto& [name, derived] : all.items()) {
    INFO(name);
    const ExpandedModel model = model_file(name);
    CHECK(sizes_of(form_buckets(model, plain)) == derived.at("ddp_default").get<Sizes>());
    CHECK(sizes_of(form_buckets(model, unused)) == derived.at("ddp_find_unused").get<Sizes>());
    CHECK(sizes_of(form_buckets(model, plain, 2)) == derived.at("ddp_default_fp16_params").get<Sizes>());
  }
  CHECK(all.size() == 21);
}

}  // namespace bucket_facts
