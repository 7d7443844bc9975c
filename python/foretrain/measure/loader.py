"""How many images per second a DataLoader delivers with N workers: JPEG, decoded, cropped, flipped."""
from __future__ import annotations

import io
import os
import time
from typing import Any, Dict, List

_SIZE = (500, 375)  #: the mean size of ImageNet's pictures
_BATCH = 32
_PICTURES = 64


def _pictures() -> List[bytes]:
    """JPEG files in memory that look like photographs to a decoder: smooth shapes and noise."""
    import numpy
    from PIL import Image

    made = []
    random = numpy.random.default_rng(1)
    for _ in range(_PICTURES):
        small = random.integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
        picture = Image.fromarray(small).resize(_SIZE, Image.BICUBIC)
        noise = random.normal(0, 6, (_SIZE[1], _SIZE[0], 3))
        noisy = numpy.clip(numpy.asarray(picture, dtype=float) + noise, 0, 255).astype(numpy.uint8)
        file = io.BytesIO()
        Image.fromarray(noisy).save(file, "JPEG", quality=90)
        made.append(file.getvalue())
    return made


class Pictures:
    """A data set of one million samples that decodes one of a few pictures."""

    def __init__(self) -> None:
        from torchvision import transforms

        self.files = _pictures()
        self.change = transforms.Compose([
            transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ])

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        return self.change(Image.open(io.BytesIO(self.files[index % len(self.files)])).convert("RGB")), index % 1000


def rates(seconds: float) -> List[Dict[str, Any]]:
    """Rows of loader.jsonl: images per second with 0, 1, 2, 4, … workers up to the cores, as time allows."""
    try:
        import torch
        import torchvision  # noqa: F401 - decoding and cropping are its
    except ImportError:
        return []
    cores = len(os.sched_getaffinity(0))
    counts = [0] + [2**i for i in range(8) if 2**i <= cores]
    order = sorted(counts, key=lambda n: (n not in (1, cores), n))
    data = Pictures()
    rows: List[Dict[str, Any]] = []
    until = time.monotonic() + seconds
    for workers in order:
        share = min(3.0, (until - time.monotonic()) / 2)
        if share < 0.5:
            break
        loader = torch.utils.data.DataLoader(data, _BATCH, num_workers=workers, pin_memory=False)
        batches = iter(loader)
        for _ in range(2 * max(1, workers)):
            next(batches)
        begin, count = time.monotonic(), 0
        while time.monotonic() - begin < share:
            next(batches)
            count += _BATCH
        took = time.monotonic() - begin
        del batches
        rows.append({"workers": workers, "images_per_s": count / took, "cores": cores,
                     "source": f"JPEG {_SIZE[0]}x{_SIZE[1]}, RandomResizedCrop(224)",
                     "bytes": sum(map(len, data.files)) // len(data.files)})
    return rows
