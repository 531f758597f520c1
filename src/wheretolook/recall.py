"""A small model that recalls, with any scorer: what does the way of comparing change?"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import Additive, Bilinear, Cosine, Dot, ScaledDot, Scorer, SelfAttention, attend
from .data.recall import Recall, recall
from .training import History, Recipe, seeded, trained

__all__ = ["SCORERS", "RecallModel", "RecallScore", "score_recall", "train_recall"]

SCORERS: dict[str, Callable[[int], Scorer]] = {
    "raw dot": lambda width: Dot(),
    "scaled dot": lambda width: ScaledDot(),
    "cosine": lambda width: Cosine(),
    "cosine, learned temperature": lambda width: Cosine(learned=True),
    "bilinear": lambda width: Bilinear(width, width),
    "additive": lambda width: Additive(width, width, width),
}


class RecallModel(nn.Module):
    """Answer a question about pairs with one attention.

    Parameters
    ----------
    scorer : str
        A name in `SCORERS`.
    width : int
        D, of embeddings, queries, keys and values.
    start : float, optional
        The standard deviation of the first embeddings; 1/√D if None.
    self_attention : bool
        False: one query looks at separate keys and values, as in Bahdanau's decoder. True: pairs
        and question are tokens of one self-attention layer, a pair is the sum of its key's and
        its value's embedding, and W_Q, W_K, W_V must take them apart again.
    symbols : int
        How many keys and values there are.

    Raises
    ------
    ValueError
        If there is no such scorer.

    Examples
    --------
    >>> asked = recall(4, torch.Generator().manual_seed(0), pairs=3)
    >>> logits, weights = RecallModel("scaled dot", 8)(asked)
    >>> logits.shape, weights.shape
    (torch.Size([4, 20]), torch.Size([4, 3]))
    """

    def __init__(
        self,
        scorer: str,
        width: int,
        *,
        start: float | None = None,
        self_attention: bool = False,
        symbols: int = 20,
    ) -> None:
        super().__init__()
        if scorer not in SCORERS:
            raise ValueError(f"scorer: expected one of {', '.join(SCORERS)}; got {scorer!r}")
        made = SCORERS[scorer](width)
        self.keys = nn.Embedding(symbols, width)
        self.values = nn.Embedding(symbols, width)
        self.questions = nn.Embedding(symbols, width)
        for table in (self.keys, self.values, self.questions):
            nn.init.normal_(table.weight, std=width**-0.5 if start is None else start)
        self.layer = SelfAttention(width, scorer=made) if self_attention else None
        self.scorer = made
        self.output_layer = nn.Linear(width, symbols)

    def forward(self, asked: Recall) -> tuple[Tensor, Tensor]:
        """Answer.

        Parameters
        ----------
        asked : Recall
            B questions.

        Returns
        -------
        logits : (B, symbols)
            A score for each value.
        weights : (B, pairs) or (B, pairs + 1)
            The question's row of the attention; as self-attention it may look at itself, last.
        """
        query = self.questions(asked.question).unsqueeze(1)
        keys, values = self.keys(asked.keys), self.values(asked.values)
        if self.layer is not None:
            # of the layer's rows only the question's is read, so only that one is computed
            tokens = torch.cat([keys + values, query], dim=1)
            query = self.layer.query_layer(query)
            keys, values = self.layer.key_layer(tokens), self.layer.value_layer(tokens)
        attention = attend(query, keys, values, scorer=self.scorer)
        return self.output_layer(attention.output[:, 0]), attention.weights[:, 0]


def train_recall(
    scorer: str,
    width: int,
    *,
    start: float | None = None,
    self_attention: bool = False,
    steps: int = 600,
    seed: int = 0,
) -> tuple[RecallModel, History]:
    """Train a `RecallModel` on ever new questions, or load it if it was trained before.

    Parameters
    ----------
    scorer, width, start, self_attention
        See `RecallModel`.
    steps : int
        Batches of 256 questions.
    seed : int
        Of the first weights and the questions.

    Returns
    -------
    model : RecallModel
    history : History
    """
    how = {"start": start, "self_attention": self_attention}
    with seeded(seed):
        model = RecallModel(scorer, width, **how)
    recipe = Recipe(steps=steps, batch=256, rate=5e-3, warmup=0, decay=0.0, weight_decay=0.0)

    def batches(generator: torch.Generator) -> Iterator[Recall]:
        while True:
            yield recall(recipe.batch, generator)

    label, config = f"{scorer}, seed {seed}", {"scorer": scorer, "width": width, **how}
    history = trained(
        model, _loss, batches, recipe, seed=seed, label=label, config=config, module="recall"
    )
    return model, history


class RecallScore(NamedTuple):
    """Shares of questions, 0 to 1: answered rightly; looked at rightly; weight on the pair."""

    accuracy: float
    peak: float
    weight: float


@torch.no_grad()
def score_recall(model: RecallModel, *, seed: int = 0, questions: int = 2_000) -> RecallScore:
    """Test a model on new questions.

    Parameters
    ----------
    model : RecallModel
    seed : int
        Of the questions, which differ from all in training.
    questions : int
        How many.

    Returns
    -------
    RecallScore
    """
    asked = recall(questions, torch.Generator().manual_seed(1_000_000 + seed))
    logits, weights = model(asked)
    return RecallScore(
        (logits.argmax(1) == asked.answer).float().mean().item(),
        (weights.argmax(1) == asked.place).float().mean().item(),
        weights.gather(1, asked.place[:, None]).mean().item(),
    )


def _loss(model: RecallModel, asked: Recall) -> Tensor:
    return nn.functional.cross_entropy(model(asked)[0], asked.answer)
