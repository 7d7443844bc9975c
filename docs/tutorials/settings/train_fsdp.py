import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy, MixedPrecision

# FSDP(model, sharding_strategy=ShardingStrategy.NO_SHARD) was slower
model = FSDP(
    build(),
    sharding_strategy=ShardingStrategy.HYBRID_SHARD,
    mixed_precision=MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16),
    auto_wrap_policy=functools.partial(size_based_auto_wrap_policy, min_num_params=100_000),
    limit_all_gathers=True,
    use_orig_params=True,
)
