// Rules of rows looked up in tables, and of elements picked by index. A lookup counts the rows that it reads,
// not the table. The gradient of a table is dense.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

// The first operand is the table, whose bytes are replaced by those of the rows: read once, written once.
std::vector<RecordedWork> looked_up(const RecordedCall& call, const OperatorRule&) {
  const double rows = call.out(0).bytes();
  return {{call.out(0).elements(), call.in_bytes() - call.in(0).bytes() + 2 * rows}};
}

// The gradient of the rows is read, and added to a table of zeros.
std::vector<RecordedWork> table_gradient(const RecordedCall& call, const OperatorRule&) {
  return {{call.out(0).elements(), call.in_bytes() + call.in(0).bytes() + call.out_bytes(), 2}};
}

/// Counts values put by index into a copy, or in place: the values, their indices, and the elements that they
/// replace.
std::vector<RecordedWork> put_by_index(const RecordedCall& call, const OperatorRule&) {
  const double put = call.in_count() > 1 ? call.in(call.in_count() - 1).bytes() : 0;
  return {{call.out(0).elements(), call.in_bytes() - call.in(0).bytes() + 2 * put}};
}

OperatorRule table_row(std::string_view name, std::string_view bytes,
                       std::vector<RecordedWork> (*work)(const RecordedCall&, const OperatorRule&)) {
  return {name, OperatorClass::embedding, HostCall::embedding, "n", bytes, work, 1};
}

}  // namespace

// Lookups in tables are of the class `embedding`; picking and putting by index are copies.
std::vector<OperatorRule> embedding_rules() {
  std::vector<OperatorRule> rows{table_row("embedding", "indices, 2 results", looked_up)};
  for (const char* name : {"_embedding_bag", "_embedding_bag_forward_only"})
    rows.push_back(table_row(name, "indices, 2 results", looked_up));
  for (const char* name :
       {"embedding_dense_backward", "_embedding_bag_dense_backward", "_embedding_bag_backward"})
    rows.push_back(table_row(name, "indices, 2 gradients of rows, table", table_gradient));
  // Picking by index copies elements or rows.
  for (const char* name : {"index", "index_select", "gather", "take", "take_along_dim", "masked_select"}) {
    OperatorRule row = table_row(name, "indices, 2 results", looked_up);
    row.call = HostCall::copy, row.cls = OperatorClass::copy;
    rows.push_back(row);
  }
  // Putting by index writes elements or rows, and may add to what is there.
  for (const char* name : {"index_put", "_index_put_impl", "index_add", "index_copy", "index_fill", "scatter",
                           "scatter_add", "scatter_reduce", "masked_scatter", "put"}) {
    OperatorRule row = table_row(name, "indices, 3 of what is put", put_by_index);
    row.call = HostCall::copy, row.cls = OperatorClass::copy;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace foretrain
