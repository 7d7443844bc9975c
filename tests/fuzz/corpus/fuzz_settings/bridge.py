from megatron.bridge import ConfigContainer

def pretrain_config():
    cfg = base()
    cfg.model.tensor_model_parallel_size = 8
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.seq_length = 8192
    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = 64
    cfg.ddp.use_distributed_optimizer = True
    return cfg
