// The size of a matrix product that the batch multiplies.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

inline double& grown_size(Product& product) {
  return product.grows == Product::Grows::rows
             ? product.m
             : (product.grows == Product::Grows::depth ? product.k : product.count);
}

}  // namespace foretrain
