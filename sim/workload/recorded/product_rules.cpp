// Rules of matrix products: 2 FLOPs a multiply-add, and one for each element of an addend.
#include <algorithm>
#include <cctype>
#include <map>

#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// A product C[m,n] = A[m,k] B[k,n], `count` times.
struct PlainProduct {
  double m = 0, n = 0, k = 0, count = 1;
  double flops() const { return 2 * m * n * k * count; }
};

/// Returns the work of a product; an addend adds FLOPs and bytes that do not overlap with the product.
RecordedWork work_of_product(const PlainProduct& p, double own_bytes, double addend, double addend_bytes) {
  Product product;
  product.m = p.m, product.n = p.n, product.k = p.k, product.count = p.count;
  product.bytes = {own_bytes, 0};
  return {p.flops() + addend, own_bytes + addend_bytes, 1, {product}};
}

/// Returns the work of the matrices that begin at operand `first`. An operand before them is added to the
/// product.
RecordedWork two_matrices(const RecordedCall& call, std::size_t first, double count) {
  const TensorAt a = call.in(first), b = call.in(first + 1), c = call.out(0);
  const PlainProduct p{a.dim(-2), b.dim(-1), a.dim(-1), count};
  return work_of_product(p, a.bytes() + b.bytes() + c.bytes(), first > 0 ? c.elements() : 0,
                         first > 0 ? call.in(0).bytes() : 0);
}

std::vector<RecordedWork> plain_product(const RecordedCall& call, const OperatorRule&) {
  return {two_matrices(call, 0, 1)};
}
std::vector<RecordedWork> added_product(const RecordedCall& call, const OperatorRule&) {
  return {two_matrices(call, 1, 1)};
}
std::vector<RecordedWork> batched_product(const RecordedCall& call, const OperatorRule&) {
  return {two_matrices(call, 0, call.in(0).dim(0))};
}
std::vector<RecordedWork> added_batched_product(const RecordedCall& call, const OperatorRule&) {
  return {two_matrices(call, 1, call.in(1).dim(0))};
}

/// A matrix times a vector; a first operand of three is added.
std::vector<RecordedWork> product_with_vector(const RecordedCall& call, const OperatorRule&) {
  const std::size_t first = call.in_count() > 2 ? 1 : 0;
  const TensorAt a = call.in(first), x = call.in(first + 1), y = call.out(0);
  const PlainProduct p{a.dim(0), 1, a.dim(1)};
  return {work_of_product(p, a.bytes() + x.bytes() + y.bytes(), first > 0 ? y.elements() : 0,
                          first > 0 ? call.in(0).bytes() : 0)};
}

/// Rows of the input times the transposed weights [out, in].
std::vector<RecordedWork> linear_product(const RecordedCall& call, const OperatorRule&) {
  const TensorAt x = call.in(0), w = call.in(1), y = call.out(0);
  const double width = std::max(1.0, w.dim(-1));
  const PlainProduct p{x.elements() / width, w.rank() > 1 ? w.dim(0) : 1, w.dim(-1)};
  const bool bias = call.in_count() > 2;
  return {work_of_product(p, x.bytes() + w.bytes() + y.bytes(), bias ? y.elements() : 0,
                          bias ? call.in(2).bytes() : 0)};
}

/// Products over all leading dimensions; a second operand of two dimensions is shared by all of them.
std::vector<RecordedWork> general_product(const RecordedCall& call, const OperatorRule&) {
  const TensorAt a = call.in(0), b = call.in(1), c = call.out(0);
  const double k = a.dim(-1), n = b.rank() > 1 ? b.dim(-1) : 1;
  PlainProduct p{0, n, k};
  if (b.rank() <= 2)
    p.m = k > 0 ? a.elements() / k : 0;
  else
    p.m = a.rank() > 1 ? a.dim(-2) : 1, p.count = p.m * n > 0 ? c.elements() / (p.m * n) : 0;
  return {work_of_product(p, a.bytes() + b.bytes() + c.bytes(), 0, 0)};
}

/// Returns the dimension behind every letter of an equation such as "bij,bjk->bik".
std::map<char, double> letters_of(const RecordedCall& call, std::string_view equation) {
  std::map<char, double> letters;
  std::size_t operand = 0;
  int at = 0;
  for (const char c : equation.substr(0, equation.find("->"))) {
    // A comma begins the next operand, whose letters are its dimensions in order.
    if (c == ',') {
      ++operand, at = 0;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      letters[c] = call.in(operand).dim(at++);
    }
  }
  return letters;
}

/// Counts 2 FLOPs for every combination of letters; without an equation only the bytes.
std::vector<RecordedWork> einsum_product(const RecordedCall& call, const OperatorRule&) {
  const RecordedArgument* equation = call.argument("equation");
  double combinations = equation == nullptr ? 0 : 1;
  if (equation != nullptr) {
    for (const auto& [letter, size] : letters_of(call, equation->word)) combinations *= size;
  }
  // The sum counts as one product: a row for each result, as deep as the letters that are summed over.
  const double made = std::max(1.0, call.out(0).elements());
  const PlainProduct p{made, 1, combinations / made};
  return {work_of_product(p, call.in_bytes() + call.out_bytes(), 0, 0)};
}

/// Products of groups whose sizes are values of a tensor, and are taken to be equal. Either rows in groups
/// are multiplied by a matrix for each group, or two matrices have their inner dimension in groups.
std::vector<RecordedWork> grouped_product(const RecordedCall& call, const OperatorRule&) {
  const std::size_t scales = call.in_count() > 4 ? 2 : 0;  // of the fp8 form, behind both matrices
  const TensorAt a = call.in(0), b = call.in(1), offsets = call.in(2 + scales), c = call.out(0);
  // A tensor with three dimensions shows the number of groups; otherwise there are as many as offsets.
  const double own_groups = a.rank() > 2 ? a.dim(0) : b.rank() > 2 ? b.dim(0) : offsets.elements();
  const double groups = std::max(1.0, own_groups);
  PlainProduct p{a.dim(-2), b.dim(-1), a.dim(-1), groups};
  // The dimension that is in groups is divided among them.
  if (a.rank() == 2 && b.rank() > 2) p.m /= groups;
  if (a.rank() > 2 && b.rank() == 2) p.n /= groups;
  if (a.rank() == 2 && b.rank() == 2) p.k /= groups;
  return {work_of_product(p, a.bytes() + b.bytes() + c.bytes(), 0, 0)};
}

/// Returns a row; products of a gemm are calls like linear's, batched ones like attention's.
OperatorRule product_row(std::string_view name, std::string_view flops, OperatorClass cls,
                         std::vector<RecordedWork> (*work)(const RecordedCall&, const OperatorRule&)) {
  const HostCall call = cls == OperatorClass::gemm ? HostCall::linear : HostCall::attention;
  return {name, cls, call, flops, "operands + results", work, 0, OperatorRole::product};
}

}  // namespace

// Plain products are of the class `gemm`; batched ones are products of attention.
std::vector<OperatorRule> product_rules() {
  constexpr auto kGemm = OperatorClass::gemm, kBatched = OperatorClass::attention;
  return {
      product_row("mm", "2 m n k", kGemm, plain_product),
      product_row("addmm", "2 m n k + m n", kGemm, added_product),
      product_row("_addmm_activation", "2 m n k + m n", kGemm, added_product),
      product_row("linear", "2 rows in out, + rows out with bias", kGemm, linear_product),
      product_row("matmul", "2 m n k for each of the leading dimensions", kGemm, general_product),
      product_row("bmm", "2 b m n k", kBatched, batched_product),
      product_row("baddbmm", "2 b m n k + b m n", kBatched, added_batched_product),
      product_row("einsum", "2 for every combination of the equation's letters", kBatched, einsum_product),
      product_row("_grouped_mm", "2 m n k, groups of equal sizes", kGemm, grouped_product),
      product_row("_scaled_grouped_mm", "2 m n k, groups of equal sizes", kGemm, grouped_product),
      product_row("mv", "2 m k", kGemm, product_with_vector),
      product_row("addmv", "2 m k + m", kGemm, product_with_vector)};
}

}  // namespace foretrain
