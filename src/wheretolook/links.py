"""Train a `SentenceModel` on sentences with known links."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from .data.link_grammars import TASKS
from .data.links import Examples, split
from .data.tasks import Sentence, Task, Vocabulary
from .sentences import Reading, SentenceModel
from .training import History, Recipe, seeded, trained

__all__ = ["LinkModel", "examples", "train_links", "untrained_links"]


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
            With one ``[MASK]``; see `wheretolook.data.tasks.Task.read`.

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
        A name in `wheretolook.data.link_grammars.TASKS`.
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
        A name in `wheretolook.data.link_grammars.TASKS`.
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
    sentences = examples(task, "training", seed)
    model = _make(task, seed, **shape)
    recipe = Recipe(steps=steps)
    answers = sentences.answer
    if shuffled:
        deal = torch.randperm(len(answers), generator=torch.Generator().manual_seed(seed))
        answers = answers[deal]

    batches, label = _batches(sentences, answers, recipe.batch), f"{task}, seed {seed}"
    # the grammar as well as its name: a reader may change one of their own and train again
    config = {**shape, "task": task, "grammar": repr(TASKS[task]), "shuffled": shuffled}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="links"
    )
    found = _link_shares(model, task, seed, 2_000)
    return LinkModel(TASKS[task], model, history, seed, _best(found))


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
    first, use = (seed, 2_000) if tries == 1 else (1_000_000 + 1_000 * seed, 500)
    models = [_make(task, first + number, **options) for number in range(tries)]
    found = [_link_shares(model, task, seed, use) for model in models]
    best = max(range(tries), key=lambda number: found[number].max())
    return LinkModel(TASKS[task], models[best], History(), seed, _best(found[best]))


def _make(task: str, seed: int, **shape: int | str) -> SentenceModel:
    vocabulary = TASKS[task].vocabulary
    with seeded(seed):
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
    logits = model(ids, query, need_weights=False).logits
    return nn.functional.cross_entropy(logits, answer)


@torch.no_grad()
def _link_shares(model: SentenceModel, task: str, seed: int, use: int) -> Tensor:
    """Return for each (layer, head) how often its peak is the link in training sentences."""
    some = examples(task, "training", seed)
    rows = torch.arange(use)
    reading = model(some.ids[:use], some.query[:use])
    peaks = [a.weights[rows, :, some.query[:use]].argmax(-1) for a in reading.attentions]
    return torch.stack([(peak == some.link[:use, None]).float().mean(0) for peak in peaks])


def _best(shares: Tensor) -> tuple[int, int]:
    """Name the (layer, head) of the largest share."""
    return divmod(int(shares.argmax()), shares.shape[1])
