"""Weights are never read or written: models come from their configuration, checkpoints go nowhere."""

from __future__ import annotations

import io
import os
from typing import Any

import torch

from .data import when_imported
from .session import Session, refuse, user_place

#: Bytes of what a script may hand to its ranks by torch.save.
MOST_SAVED = 16 << 20


def install(session: Session) -> None:
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    os.environ.update(WANDB_MODE="disabled", TOKENIZERS_PARALLELISM="false")

    def save(*_: Any, **__: Any) -> None:
        session.note(f"The checkpoint that {user_place() or 'a library'} saves was not written.")

    torch.save = _saving(session, torch.save, save)  # type: ignore
    _loading()
    when_imported("torch.distributed.checkpoint", lambda m: _checkpoints(m, save))
    when_imported("safetensors.torch", lambda m: setattr(m, "save_file", save))
    when_imported("transformers.modeling_utils", lambda m: _transformers(m, session))
    when_imported("transformers.utils.import_utils", lambda m: setattr(m, "is_fake_tensor", lambda _: False))
    when_imported("timm.models._builder", lambda m: _timm(m, session))
    when_imported("torchtune.training.checkpointing._checkpointer", lambda m: _torchtune(m, session))
    when_imported("torchtune.training._distributed", _torchtune_sharded)
    when_imported("torchvision.models._api", lambda m: _torchvision(m, session))

    def downloaded(url: str, *_: Any, **__: Any) -> Any:
        refuse(f"{url}: weights are not fetched", "make the model without weights; its sizes are the same")

    torch.hub.load_state_dict_from_url = downloaded


def _saving(session: Session, plain: Any, checkpoint: Any) -> Any:
    """What a script writes before it trains, for ranks that it starts, goes to the overlay; checkpoints go
    nowhere."""

    def save(value: Any, place: Any, *args: Any, **kwargs: Any) -> None:
        if not session.trained() and isinstance(place, (str, os.PathLike)):
            held = io.BytesIO()
            try:
                plain(value, held, *args, **kwargs)
            except Exception:
                pass
            else:
                if held.tell() <= MOST_SAVED:
                    with open(place, "wb") as file:
                        file.write(held.getvalue())
                    return
        checkpoint()

    return save


class Unread(dict):
    """The state of weights that were not read."""


def _loading() -> None:
    """A module takes unread weights: its parameters stay, or come to the GPU from the device meta."""
    from torch.nn.modules.module import _IncompatibleKeys

    plain = torch.nn.Module.load_state_dict

    def load(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(state, Unread):
            return _IncompatibleKeys([], [])
        return plain(self, state, *args, **kwargs)

    torch.nn.Module.load_state_dict = load  # type: ignore


def _torchtune(module: Any, session: Session) -> None:
    """torchtune's checkpointers: weights that are not here are not read."""

    def missing(kind: Any) -> None:
        init, load = kind.__init__, kind.load_checkpoint

        def begin(self: Any, checkpoint_dir: Any, *args: Any, **kwargs: Any) -> None:
            self.unread = False
            try:
                init(self, checkpoint_dir, *args, **kwargs)
            except (OSError, ValueError):
                self.unread = True
                name = os.path.basename(os.path.normpath(checkpoint_dir))
                session.note(f"The weights of {name} were not read.")

        def read(self: Any, *args: Any, **kwargs: Any) -> Any:
            return {"model": Unread()} if self.unread else load(self, *args, **kwargs)

        kind.__init__, kind.load_checkpoint = begin, read

    for name in ("FullModelHFCheckpointer", "FullModelMetaCheckpointer", "FullModelTorchTuneCheckpointer"):
        missing(getattr(module, name))


def _torchtune_sharded(module: Any) -> None:
    from torch.nn.modules.module import _IncompatibleKeys

    plain = module.load_from_full_model_state_dict

    def load(model: Any, state: Any, device: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(state, Unread):
            return plain(model, state, device, *args, **kwargs)
        model.to_empty(device=device)
        return _IncompatibleKeys([], [])

    module.load_from_full_model_state_dict = load


def _checkpoints(module: Any, save: Any) -> None:
    for name in ("save", "async_save"):
        if hasattr(module, name):
            setattr(module, name, save)


def _torchvision(module: Any, session: Session) -> None:
    def get_state_dict(self: Any, *_: Any, **__: Any) -> Any:
        session.note("Pretrained weights of torchvision were not read.")
        return Unread()

    module.WeightsEnum.get_state_dict = get_state_dict


def _timm(module: Any, session: Session) -> None:
    def load(*_: Any, **__: Any) -> None:
        session.note("Pretrained weights of timm were not read.")

    module.load_pretrained = load


def _transformers(module: Any, session: Session) -> None:
    """PreTrainedModel.from_pretrained makes the model of the configuration."""

    def from_pretrained(cls: Any, name: Any, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        from transformers import AutoConfig

        session.note(f"The weights of {os.path.basename(str(name))} were not read.")
        if config is None:
            try:
                config = AutoConfig.from_pretrained(name)
            except Exception as error:
                refuse(
                    f"the configuration of {name} is not on this machine ({type(error).__name__})",
                    "fetch config.json once where there is a network, or name a local folder that has it",
                )
        for key in ("num_labels",):
            if key in kwargs:
                setattr(config, key, kwargs[key])
        for key in list(kwargs):
            if hasattr(config, key) and key not in ("dtype", "torch_dtype"):
                setattr(config, key, kwargs[key])
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        if isinstance(dtype, str):
            dtype = getattr(config, "dtype", None) if dtype == "auto" else getattr(torch, dtype)
        named = {"dtype": dtype} if isinstance(dtype, torch.dtype) else {}
        if kwargs.get("attn_implementation"):
            named["attn_implementation"] = kwargs["attn_implementation"]
        try:
            model = cls._from_config(config, **named)
        except TypeError:
            model = cls._from_config(
                config, **{f"torch_{k}" if k == "dtype" else k: v for k, v in named.items()}
            )
        model.eval()
        return model

    module.PreTrainedModel.from_pretrained = classmethod(from_pretrained)
