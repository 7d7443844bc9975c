import argparse, torchvision.models as models, timm
from torchvision.models import (resnet18,
                                vgg16)
from torchvision import datasets, transforms
p = argparse.ArgumentParser()
p.add_argument("-a", "--arch", default="resnet50"); p.add_argument("--amp", action="store_true")
args = p.parse_args()
args.batch_size = args.batch_size // 4
net = models.__dict__[args.arch](); net = getattr(models, args.arch)(); net = timm.create_model(args.arch)
data = datasets.CIFAR10(".", transform=transforms.Resize(224))
ids = tokenizer(x, truncation=True, max_length=128)
model = AutoModelForCausalLM.from_pretrained("gpt2", subfolder="unet")
