"""Train a `SentenceModel` on sentences with known links."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from .data.links import TASKS, Examples, Sentence, Task, Vocabulary, split
from .sentences import Reading, SentenceModel
from .training import History, Recipe, fit, remembered

__all__ = ["LinkModel", "examples", "train_links", "untrained_links"]

MODULES = ("links",)  # whose code, with all it imports, makes the weights


@dataclass(frozen=True)
class LinkModel:
    """A sentence model with the task that it was made for.

    Attributes
    ----------
    task : Task
        Its grammar and vocabulary.
    model : SentenceModel
        In evaluation mode.
    history : History
        Of its training; empty if it was not trained.
    seed : int
        Of the sentences, the first weights and the batches.
    best : (layer, head)
        The head whose peak finds the link most often in *training* sentences.
    """

    task: Task
    model: SentenceModel
    history: History
    seed: int
    best: tuple[int, int]

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that it knows."""
        return self.task.vocabulary

    @torch.no_grad()
    def read(self, sentence: str | Sentence) -> tuple[Sentence, Reading]:
        """Let the model read one sentence, of the grammar or of your own.

        Parameters
        ----------
        sentence : str or Sentence
            With one ``[MASK]``; see `wheretolook.data.links.Task.read`.

        Returns
        -------
        sentence : Sentence
            As it was understood.
        reading : Reading
            Logits (1, words) and one attention for each layer, weights (1, H, L, L).

        Raises
        ------
        ValueError
            If a word is unknown, or the sentence is empty, too long or without a gap.
        """
        if isinstance(sentence, str):
            sentence = self.task.read(sentence)
        ids = torch.tensor([self.vocabulary.encode(sentence.tokens)])
        return sentence, self.model(ids, torch.tensor([sentence.query]))

    def answer(self, sentence: str | Sentence) -> dict[str, float]:
        """Return the probability of each possible answer, the likeliest first.

        Probabilities are shared among the task's answers: other words are left out.
        """
        _, reading = self.read(sentence)
        numbers = [self.vocabulary.number(answer) for answer in self.task.answers]
        shares = reading.logits[0, numbers].softmax(-1).tolist()
        ranked = sorted(zip(self.task.answers, shares, strict=True), key=lambda pair: -pair[1])
        return dict(ranked)

    def map(self, sentence: str | Sentence) -> Tensor:
        """Return the best head's weights for one sentence, (L, L): rows look at columns.

        Only the row of the query was trained to mean anything.
        """
        layer, head = self.best
        return self.read(sentence)[1].attentions[layer].weights[0, head]


def examples(task: str, part: str, seed: int = 0) -> Examples:
    """Return sentences of a task as tensors.

    Parameters
    ----------
    task : str
        A name in `wheretolook.data.links.TASKS`.
    part : str
        ``"training"``, ``"A"``, ``"B"`` or ``"C"``; see `wheretolook.data.links.split`.
    seed : int
        Where chance starts.

    Returns
    -------
    sentences : Examples

    Raises
    ------
    ValueError
        If there is no such task or part.
    """
    parts = split(task, seed)
    if part not in parts:
        raise ValueError(f"part: {task} has {', '.join(parts)}; got {part!r}")
    return _examples(task, repr(TASKS[task]), part, seed)


@lru_cache(maxsize=8)
def _examples(task: str, grammar_text: str, part: str, seed: int) -> Examples:
    """Make the tensors; a grammar that was changed under the same name is another one."""
    return Examples.of(split(task, seed)[part], TASKS[task].vocabulary)


def train_links(
    task: str,
    seed: int = 0,
    *,
    heads: int = 1,
    layers: int = 1,
    width: int = 32,
    values: str = "stream",
    steps: int = 1500,
    shuffled: bool = False,
) -> LinkModel:
    """Train a sentence model on a task of known links, or load it if it was trained before.

    Parameters
    ----------
    task : str
        A name in `wheretolook.data.links.TASKS`.
    seed : int
        Of the sentences, the first weights and the batches.
    heads, layers, width, values
        See `SentenceModel`.
    steps : int
        Batches of 64 sentences; training never sees which noun the link is.
    shuffled : bool
        Whether the answers are dealt out at random: a control that has nothing to learn.

    Returns
    -------
    LinkModel

    Raises
    ------
    ValueError
        If there is no such task, or the model can't be made so.
    """
    shape = {"width": width, "heads": heads, "layers": layers, "values": values}
    config = {"task": task, "seed": seed, **shape}
    sentences = examples(task, "training", seed)
    model = _make(config)
    recipe = Recipe(steps=steps)
    answers = sentences.answer
    if shuffled:
        deal = torch.randperm(len(answers), generator=torch.Generator().manual_seed(seed))
        answers = answers[deal]

    def train() -> History:
        label = f"{task}, seed {seed}"
        batches = _batches(sentences, answers, recipe.batch)
        return fit(model, _loss, batches, recipe, seed=seed, label=label)

    # the grammar as well as its name: a reader may change one of their own and train again
    what = {**config, "grammar": repr(TASKS[task]), "shuffled": shuffled, "recipe": asdict(recipe)}
    history = remembered(model, train, what, *MODULES)
    return _with_best_head(model, config, history)


def untrained_links(task: str, seed: int = 0, *, tries: int = 1, **options: int | str) -> LinkModel:
    """Make an untrained model; of several, the one whose peak finds most links in training.

    Parameters
    ----------
    task, seed
        As for `train_links`.
    tries : int
        How many random models to choose from.
    **options
        Heads, layers, width and values of the `SentenceModel`.

    Returns
    -------
    LinkModel

    Raises
    ------
    ValueError
        If there is no such task, no try, or the model can't be made so.
    """
    if tries < 1:
        raise ValueError(f"tries: expected 1 or more, got {tries}")
    examples(task, "training", seed)  # says so if there is no such task
    config = {"task": task, "seed": seed, **options}
    found = []
    for number in range(tries):
        model = _make({**config, "seed": seed if tries == 1 else 1_000_000 + 1_000 * seed + number})
        made = _with_best_head(model, config, History(), use=2_000 if tries == 1 else 500)
        found.append((_link_shares(model, task, seed, 500).max().item(), made))
    return max(found, key=lambda pair: pair[0])[1]


def _make(config: dict) -> SentenceModel:
    vocabulary = TASKS[config["task"]].vocabulary
    shape = {name: config[name] for name in config if name not in ("task", "seed")}
    with torch.random.fork_rng(devices=[]):  # leaves the reader's own random numbers alone
        torch.manual_seed(config["seed"])
        return SentenceModel(len(vocabulary), vocabulary.max_length, **shape).eval()


def _batches(
    sentences: Examples, answers: Tensor, size: int
) -> Callable[[torch.Generator], Iterator[tuple[Tensor, Tensor, Tensor]]]:
    lengths = sentences.lengths

    def draw(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        while True:  # one epoch after another, each in its own order
            for rows in torch.randperm(len(answers), generator=generator).split(size):
                if len(rows) == size:
                    longest = int(lengths[rows].max())
                    yield sentences.ids[rows, :longest], sentences.query[rows], answers[rows]

    return draw


def _loss(model: SentenceModel, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    ids, query, answer = batch
    return nn.functional.cross_entropy(model(ids, query).logits, answer)


@torch.no_grad()
def _link_shares(model: SentenceModel, task: str, seed: int, use: int) -> Tensor:
    """Return for each (layer, head) how often its peak is the link in training sentences."""
    some = examples(task, "training", seed)
    rows = torch.arange(use)
    reading = model(some.ids[:use], some.query[:use])
    peaks = [a.weights[rows, :, some.query[:use]].argmax(-1) for a in reading.attentions]
    return torch.stack([(peak == some.link[:use, None]).float().mean(0) for peak in peaks])


def _with_best_head(
    model: SentenceModel, config: dict, history: History, use: int = 2_000
) -> LinkModel:
    task, seed = config["task"], config["seed"]
    layer, head = divmod(int(_link_shares(model, task, seed, use).argmax()), model.heads)
    return LinkModel(TASKS[task], model, history, seed, (layer, head))
