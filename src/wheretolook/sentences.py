"""A small self-attention model that fills the gap in a sentence."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import Attention, MultiHeadAttention
from .masks import padding_mask

__all__ = ["Reading", "SentenceModel"]


class Reading(NamedTuple):
    """What a `SentenceModel` returns.

    Attributes
    ----------
    logits : (B, words)
        A score for each word of the vocabulary, read at the query.
    attentions : list of Attention, or None
        One for each layer, weights (B, H, L, L). None if they are not needed.
    """

    logits: Tensor
    attentions: list[Attention] | None


class SentenceModel(nn.Module):
    """Embed the words, let every word look at every word, and read one place.

    Each layer is ``x + MultiHead(LayerNorm(x))``: no feed-forward part, so that whatever one word
    learns of another has passed through attention.

    Parameters
    ----------
    words : int
        The size of the vocabulary; number 0 is padding.
    length : int
        The longest sentence: each position has a learned vector.
    width : int
        D.
    heads : int
        H in each layer; must divide the width.
    layers : int
        How many layers.
    values : {"stream", "words"}
        What the last layer sums: what has gathered at each place so far, or the words as they
        were at first, without position.

    Raises
    ------
    ValueError
        If `values` is neither, there is no layer, or the heads do not divide the width.

    Examples
    --------
    >>> model = SentenceModel(words=9, length=5, width=8)
    >>> model(torch.tensor([[1, 2, 3, 0]]), torch.tensor([2])).logits.shape
    torch.Size([1, 9])
    """

    def __init__(
        self,
        words: int,
        length: int,
        *,
        width: int = 32,
        heads: int = 1,
        layers: int = 1,
        values: str = "stream",
    ) -> None:
        super().__init__()
        if values not in ("stream", "words"):
            raise ValueError(f"values: expected 'stream' or 'words', got {values!r}")
        if layers < 1:
            raise ValueError(f"layers: expected 1 or more, got {layers}")
        self.values = values
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        for table in (self.words, self.positions):
            nn.init.normal_(table.weight, std=width**-0.5)  # vectors of length about 1
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.layers = nn.ModuleList(MultiHeadAttention(width, heads) for _ in range(layers))
        self.final_norm = nn.LayerNorm(width)
        self.output_layer = nn.Linear(width, words)

    @property
    def heads(self) -> int:
        """H, the heads in each layer."""
        return self.layers[0].heads

    def forward(
        self,
        ids: Tensor,
        query: Tensor,
        attn_masks: dict[int, Tensor] | None = None,
        *,
        need_weights: bool = True,
    ) -> Reading:
        """Fill the gap.

        Parameters
        ----------
        ids : (B, L) integers
            Word numbers, 0 = padding.
        query : (B,) integers
            Where each sentence is read.
        attn_masks : dict, optional
            For some layers, (B, H, L, L) bool, True = may attend: what an intervention hides
            besides the padding.
        need_weights : bool
            False gives None for the attentions: the same logits, faster. For training.

        Returns
        -------
        Reading

        Raises
        ------
        ValueError
            If the shapes do not fit or the sentence is too long.
        """
        batch, length = self._check(ids, query, attn_masks)
        real = padding_mask(ids).unsqueeze(1)
        words = self.words(ids)
        x = words + self.positions.weight[:length]
        attentions = []
        for number, (norm, layer) in enumerate(zip(self.norms, self.layers, strict=True)):
            extra = (attn_masks or {}).get(number)
            mask = real if extra is None else real & extra
            tokens = norm(x)
            last = number == len(self.layers) - 1
            value = norm(words) if last and self.values == "words" else tokens
            output, attention = layer(tokens, tokens, value, mask, need_weights=need_weights)
            x = x + output
            attentions.append(attention)
        read = x[torch.arange(batch), query]
        logits = self.output_layer(self.final_norm(read))
        return Reading(logits, attentions if need_weights else None)

    def _check(
        self, ids: Tensor, query: Tensor, attn_masks: dict[int, Tensor] | None
    ) -> tuple[int, int]:
        longest = self.positions.num_embeddings
        if ids.ndim != 2 or ids.shape[1] > longest:
            raise ValueError(f"ids: expected (B, L), L at most {longest}, got {tuple(ids.shape)}")
        if query.shape != ids.shape[:1]:
            raise ValueError(f"query: expected ({ids.shape[0]},), got {tuple(query.shape)}")
        unknown = set(attn_masks or ()) - set(range(len(self.layers)))
        if unknown:
            raise ValueError(
                f"attn_masks: expected layers 0 to {len(self.layers) - 1}, got {sorted(unknown)}"
            )
        return ids.shape
