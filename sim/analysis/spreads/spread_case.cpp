// Features are rows of one table: a name and a function of the case. A feature is 0 where it does not apply,
// so a term that multiplies it has no effect.
#include "sim/analysis/spreads/spread_case.hpp"

namespace foretrain {

namespace {

using Case = const SpreadCase&;

/// A feature that is there or not.
FeatureValue flag(bool is_set) { return {is_set ? 1.0 : 0.0, is_set ? 1.0 : 0.0}; }
/// A feature that moves both ends alike.
FeatureValue number(double value) { return {value, value}; }
/// A feature that applies to some cases only.
FeatureValue where(bool applies, const FeatureValue& value) { return applies ? value : FeatureValue{}; }

/// Returns true for EFA and for paths without measurements, which may be as uncertain as EFA, the least known
/// one.
bool may_be_efa(MessagePath path) {
  return path == MessagePath::efa || path == MessagePath::other_network || path == MessagePath::any;
}
/// Returns true for RDMA networks and for paths without measurements.
bool may_be_rdma(MessagePath path) {
  return path == MessagePath::infiniband || path == MessagePath::roce || path == MessagePath::slingshot ||
         may_be_efa(path);
}
bool is_sockets(MessagePath path) { return path == MessagePath::sockets; }

/// The names are the keys of spreads.inc; a new row here needs a fit by tools/fit_spreads before it has an
/// effect.
constexpr SpreadFeature kFeatures[] = {
    {"always", [](Case) { return flag(true); }},
    {"kernels", [](Case c) { return c.kernels; }},
    {"host", [](Case c) { return c.host; }},
    {"input", [](Case c) { return c.input; }},
    {"links", [](Case c) { return c.links; }},
    {"links_nvlink", [](Case c) { return where(c.path == MessagePath::nvlink, c.links); }},
    {"links_pcie", [](Case c) { return where(c.path == MessagePath::pcie, c.links); }},
    {"links_rdma", [](Case c) { return where(may_be_rdma(c.path), c.links); }},
    {"links_sockets", [](Case c) { return where(is_sockets(c.path), c.links); }},
    {"lost", [](Case c) { return number(c.lost); }},
    {"doublings", [](Case c) { return number(c.doublings); }},
    {"node_doublings", [](Case c) { return number(c.node_doublings); }},
    {"drives_several", [](Case c) { return flag(c.drives_several); }},
    {"half", [](Case c) { return flag(c.is_half); }},
    {"narrow", [](Case c) { return flag(c.is_narrow); }},
    {"adapted", [](Case c) { return flag(c.is_adapted); }},
    {"tensorflow", [](Case c) { return flag(c.framework == FrameworkKind::tensorflow); }},
    {"products", [](Case c) { return flag(c.network == NetworkKind::products); }},
    {"recurrent", [](Case c) { return flag(c.network == NetworkKind::recurrent); }},
    {"latency", [](Case c) { return number(c.latency); }},
    {"pcie", [](Case c) { return flag(c.path == MessagePath::pcie); }},
    {"rdma", [](Case c) { return flag(may_be_rdma(c.path)); }},
    {"efa", [](Case c) { return flag(may_be_efa(c.path)); }},
    {"sockets", [](Case c) { return flag(is_sockets(c.path)); }},
    {"rooted", [](Case c) { return flag(c.family == OpFamily::rooted); }},
    {"peers", [](Case c) { return flag(c.family == OpFamily::peers); }},
    {"era_unknown", [](Case c) { return flag(!c.is_era_known); }},
    {"unmeasured", [](Case c) { return flag(!c.is_measured); }},
};

}  // namespace

std::span<const SpreadFeature> spread_features() { return kFeatures; }

}  // namespace foretrain
