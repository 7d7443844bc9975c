"""A small residual network under DistributedDataParallel, started by torch.multiprocessing.spawn."""

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.norm = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x):
        return x + torch.relu(self.norm(self.one(x)))


def work(rank, world):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29500", world_size=world, rank=rank)
    torch.cuda.set_device(rank)
    net = nn.Sequential(
        nn.Conv2d(3, 64, 3), Block(64), Block(64), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)
    )
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    data = TensorDataset(torch.randn(512, 3, 32, 32), torch.randint(0, 10, (512,)))
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data), num_workers=4, pin_memory=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()
    for step, (images, labels) in enumerate(loader):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(net(images.cuda(rank, non_blocking=True)), labels.cuda(rank))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(step, loss.item())
    torch.save(net.state_dict(), "spawn_ddp.pt")


if __name__ == "__main__":
    mp.spawn(work, args=(4,), nprocs=4)
