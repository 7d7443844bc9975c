from torchtitan.trainer import Trainer

def llama3_70b() -> Trainer.Config:
    return Trainer.Config(
        training=TrainingConfig(local_batch_size=8, seq_len=8192),
        parallelism=ParallelismConfig(tensor_parallel_degree=8),
        activation_checkpoint=ActivationCheckpointConfig(mode="full"),
    )
