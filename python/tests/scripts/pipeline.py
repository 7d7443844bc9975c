"""Four stages of torch.distributed.pipelining under 1F1B, with sizes that are given."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl")
width, batch, chunks = 64, 32, 8
stage_module = nn.Sequential(nn.Linear(width, width), nn.ReLU()).to(device)
example = torch.randn(batch // chunks, width, device=device)
# What is handed on has gradients, but for the batch.
inside = example.clone().requires_grad_()
first = example if rank == 0 else inside
stage = PipelineStage(stage_module, rank, world, device, input_args=(first,), output_args=(inside,))
schedule = Schedule1F1B(stage, chunks, loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.AdamW(stage_module.parameters())
for step in range(4):
    optimizer.zero_grad()
    data, target = torch.randn(batch, width, device=device), torch.randn(batch, width, device=device)
    if rank == 0:
        schedule.step(data)
    elif rank == world - 1:
        schedule.step(target=target)
    else:
        schedule.step()
    optimizer.step()
