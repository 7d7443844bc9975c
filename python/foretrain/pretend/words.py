"""Stand-ins for texts and tokenizers that are not on this machine: random words, and a number for each."""

from __future__ import annotations

import os
import random
from typing import Any, Dict, List, Optional

from .data import when_imported
from .session import Session

WORDS = "the a model of data graph train step with large small time run fast".split()
_ROWS = 512
#: How many numbers a tokenizer has, where no configuration says it.
_SIZE = 32000
#: The same, for models that are made small.
_SMALL = 2048
_SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<mask>", "[CLS]", "[SEP]"]
_CHAT = (
    "{% for message in messages %}{{ '<s> ' + message['role'] + ' ' }}"
    "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}{% endgeneration %}"
    "{% else %}{{ message['content'] }}{% endif %}{{ ' </s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<s> assistant ' }}{% endif %}"
)


def install(session: Session) -> None:
    when_imported("datasets", lambda module: _tables(module, session))
    for name in ("tokenization_auto", "processing_auto"):
        when_imported(f"transformers.models.auto.{name}", lambda module: _transformers(module, session))
    when_imported("tiktoken.load", lambda module: _tiktoken(module, session))
    when_imported("sentencepiece", lambda module: _sentencepiece(module, session))
    when_imported("torchtitan.components.tokenizer", lambda module: _torchtitan(module, session))
    when_imported("litgpt.tokenizer", lambda module: _litgpt(module, session))


def text(count: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(count))


def _chat() -> List[Dict[str, str]]:
    return [{"role": "user", "content": text(40)}, {"role": "assistant", "content": text(160)}]


#: Columns of data sets that have a piece of the name in the key; the first row that fits holds.
_COLUMNS: List[Any] = [
    (
        ("glue", "mrpc", "mnli", "qqp"),
        {"sentence1": lambda i: text(40), "sentence2": lambda i: text(40), "label": lambda i: i % 2},
    ),
    (("sst", "imdb", "yelp", "ag_news"), {"text": lambda i: text(200), "label": lambda i: i % 2}),
    (
        ("alpaca", "dolly", "instruct"),
        {
            "instruction": lambda i: text(20),
            "input": lambda i: text(10),
            "output": lambda i: text(60),
            "text": lambda i: text(90),
        },
    ),
    (
        ("stack-exchange",),
        {
            "question": lambda i: text(40),
            "response_j": lambda i: text(160),
            "response_k": lambda i: text(160),
        },
    ),
    (
        ("feedback", "hh-rlhf", "dpo", "preference"),
        {"prompt": lambda i: text(40), "chosen": lambda i: text(160), "rejected": lambda i: text(160)},
    ),
    (("capybara", "chat", "orca", "oasst", "conversation"), {"messages": lambda i: _chat()}),
]


def _tables(module: Any, session: Session) -> None:
    """datasets.load_dataset: rows of random words where the set is not on this machine."""
    plain = module.load_dataset

    def part(name: str) -> Any:
        found = next((c for pieces, c in _COLUMNS if any(p in name for p in pieces)), None)
        columns = found or {"text": lambda i: text(400)}
        rows = {column: [make(i) for i in range(_ROWS)] for column, make in columns.items()}
        if "sentence1" in rows:
            rows["idx"] = list(range(_ROWS))
        made = module.Dataset.from_dict(rows)
        if "label" in rows:
            made = made.cast_column("label", module.ClassLabel(names=["no", "yes"]))
        return made

    def load(path: str, name: Optional[str] = None, *args: Any, split: Any = None, **kwargs: Any) -> Any:
        try:
            return plain(path, name, *args, split=split, **kwargs)
        except Exception:
            session.note(f"The data set {path} is missing; rows of random words stand in for it.")
        asked = f"{path} {name or ''}".lower()
        made = module.DatasetDict({k: part(asked) for k in ("train", "validation", "test")})
        if isinstance(split, dict):
            return module.DatasetDict({key: _cut(made, one) for key, one in split.items()})
        if isinstance(split, (list, tuple)):
            return [_cut(made, one) for one in split]
        found = made if split is None else _cut(made, split)
        return found.to_iterable_dataset() if kwargs.get("streaming") and split is not None else found

    module.load_dataset = load


def _cut(parts: Any, split: Any) -> Any:
    """One part, as "train" or "train[:320]"; of an unknown name that of training."""
    name, _, piece = str(split).partition("[")
    found = parts[name] if name in parts else parts["train"]
    end = piece.rstrip("]").rpartition(":")[2]
    return found.select(range(min(int(end), len(found)))) if end.isdigit() else found


def _numbers(size: int) -> Dict[str, int]:
    """A number for each special token and word, and names without meaning up to `size`."""
    known = (_SPECIAL + WORDS)[:size]
    names = known + [f"word{i}" for i in range(len(known), size)]
    return {name: number for number, name in enumerate(names)}


def _tokenizer(size: int) -> Any:
    """A tokenizer of the library tokenizers: each word is a token."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel(_numbers(size), unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def _say(session: Session, name: Any) -> None:
    short = os.path.basename(os.path.normpath(str(name)))
    session.note(f"The tokenizer {short} is missing; each word is a token, whose number means nothing.")


def _is_empty(name: Any) -> bool:
    """A folder without a tokenizer, from which transformers 5 makes one that knows nothing."""
    if not os.path.isdir(name):
        return False
    files = [one.lower() for one in os.listdir(name)]
    pieces = ("token", "vocab", "spiece", "sentencepiece", "tekken", "bpe", "merges")
    return not any(piece in one for one in files for piece in pieces)


def _transformers(module: Any, session: Session) -> None:
    """AutoTokenizer and AutoProcessor: a tokenizer of words where the files are missing."""

    def from_pretrained(plain: Any, name: Any, args: Any, kwargs: Any) -> Any:
        try:
            if not _is_empty(name):
                return plain(name, *args, **kwargs)
        except Exception:
            pass
        _say(session, name)
        from transformers import AutoConfig, PreTrainedTokenizerFast

        size = _SIZE
        try:
            config = kwargs.get("config") or AutoConfig.from_pretrained(name)
            size = int(config.get_text_config().vocab_size)
        except Exception:
            pass
        made = PreTrainedTokenizerFast(
            tokenizer_object=_tokenizer(size), unk_token="<unk>", bos_token="<s>", eos_token="</s>",
            pad_token="<pad>", mask_token="<mask>", cls_token="[CLS]", sep_token="[SEP]",
        )  # fmt: skip
        made.chat_template = _CHAT
        made.name_or_path = str(name)
        return made

    for kind in ("AutoTokenizer", "AutoProcessor"):
        found = getattr(module, kind, None)
        if found is None:
            continue
        plain = found.from_pretrained
        found.from_pretrained = staticmethod(
            lambda name, *args, _plain=plain, **kwargs: from_pretrained(_plain, name, args, kwargs)
        )


def _tiktoken(module: Any, session: Session) -> None:
    plain = module.load_tiktoken_bpe

    def load(path: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return plain(path, *args, **kwargs)
        except Exception:
            _say(session, path)
        pieces = [bytes([i]) for i in range(256)] + [(" " + word).encode() for word in WORDS]
        return {piece: rank for rank, piece in enumerate(pieces)}

    module.load_tiktoken_bpe = load


def _torchtitan(module: Any, session: Session) -> None:
    kind = module.HuggingFaceTokenizer
    plain, init = kind._load_tokenizer_from_path, kind.__init__

    def load(self: Any, path: str) -> Any:
        try:
            return plain(self, path)
        except FileNotFoundError:
            _say(session, path)
            return _tokenizer(_SMALL)

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if self.eos_id is None:
            self.bos_id, self.eos_id, self.bos_token, self.eos_token = 1, 2, "<s>", "</s>"

    kind._load_tokenizer_from_path, kind.__init__ = load, begin


def _litgpt(module: Any, session: Session) -> None:
    plain = module.Tokenizer.__init__

    def init(self: Any, checkpoint_dir: Any) -> None:
        try:
            plain(self, checkpoint_dir)
        except (OSError, NotImplementedError):
            _say(session, checkpoint_dir)
            self.model_name = os.path.basename(str(checkpoint_dir))
            self.processor, self.backend = _tokenizer(_SIZE), "huggingface"
            self.use_bos, self.bos_id, self.eos_id, self.apply_decoding_fix = False, 1, 2, False

    module.Tokenizer.__init__ = init


def _sentencepiece(module: Any, session: Session) -> None:
    plain = module.SentencePieceProcessor

    class SentencePieceProcessor(plain):  # type: ignore[misc, valid-type]
        """The processor itself; one whose file is missing numbers words."""

        _words: Optional[Dict[str, int]] = None

        def Load(self, model_file: Any = None, model_proto: Any = None) -> Any:
            try:
                return super().Load(model_file=model_file, model_proto=model_proto)
            except OSError:
                _say(session, model_file)
                self._words = _numbers(_SIZE)
                return True

        load = Load

        def encode(self, given: Any, *args: Any, **kwargs: Any) -> Any:
            if self._words is None:
                return super().encode(given, *args, **kwargs)
            if not isinstance(given, str):
                return [self.encode(one) for one in given]
            return [self._words.get(word, 0) for word in given.split()]

    numbers = {"bos_id": 1, "eos_id": 2, "pad_id": 3, "unk_id": 0}
    for name, number in {**numbers, "vocab_size": _SIZE, "get_piece_size": _SIZE}.items():
        _or_number(SentencePieceProcessor, plain, name, number)
    module.SentencePieceProcessor = SentencePieceProcessor


def _or_number(kind: Any, plain: Any, name: str, number: int) -> None:
    method = getattr(plain, name)
    setattr(kind, name, lambda self: number if self._words is not None else method(self))
