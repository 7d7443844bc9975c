// The rows of the catalog, in the order of the files that define them.
#pragma once

#include "sim/collective/algorithms/catalog.hpp"

namespace foretrain {

// ring_*.cpp
Algorithm ring_all_reduce();
Algorithm ring_reduce_scatter();
Algorithm ring_all_gather();
Algorithm ring_broadcast();
Algorithm ring_reduce();
// double_binary_tree.cpp
Algorithm double_binary_tree_all_reduce();
Algorithm double_binary_tree_broadcast();
Algorithm double_binary_tree_reduce();
// nvls.cpp, nvls_tree.cpp
Algorithm nvls_all_reduce();
Algorithm nvls_tree_all_reduce();
Algorithm nvls_reduce_scatter();
Algorithm nvls_all_gather();
// hierarchical_ring.cpp, hierarchical_tree.cpp
Algorithm hierarchical_ring_all_reduce();
Algorithm hierarchical_tree_all_reduce();
// recursive_halving_doubling.cpp
Algorithm recursive_halving_doubling_all_reduce();
Algorithm recursive_halving_reduce_scatter();
Algorithm recursive_doubling_all_gather();
// recursive_doubling.cpp
Algorithm recursive_doubling_all_reduce();
// reduce_to_one.cpp, hierarchical_copy.cpp
Algorithm reduce_to_one_all_reduce();
Algorithm hierarchical_copy_all_reduce();
// bruck.cpp
Algorithm bruck_reduce_scatter();
Algorithm bruck_all_gather();
Algorithm bruck_alltoall();
// direct.cpp
Algorithm direct_reduce_scatter();
Algorithm direct_all_gather();
Algorithm direct_alltoall();
Algorithm direct_gather();
Algorithm direct_scatter();
// pairwise.cpp, shift.cpp
Algorithm pairwise_alltoall();
Algorithm shift_sendrecv();
// scatter_all_gather.cpp, reduce_scatter_gather.cpp, binary_tree.cpp
Algorithm scatter_all_gather_broadcast();
Algorithm reduce_scatter_gather_reduce();
Algorithm binary_tree_broadcast();
// binomial.cpp
Algorithm binomial_broadcast();
Algorithm binomial_reduce();
Algorithm binomial_gather();
Algorithm binomial_scatter();

/// Returns an empty string: for algorithms that can do every request.
std::string_view refuse_nothing(const AlgorithmRequest& request);
/// Refuses more than 4096 ranks: for algorithms with a lane, or a need, for each pair of ranks.
std::string_view refuse_too_many_pairs(const AlgorithmRequest& request);

}  // namespace foretrain
