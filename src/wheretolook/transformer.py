"""The Transformer: encoder and decoder of attention, norms and feed-forward layers alone.

Every part is one of the book's own: `MultiHeadAttention`, the masks, `LayerNorm`, the sinusoidal
positions. The interface is that of `wheretolook.recurrent.EncoderDecoder`: a model is called with
a Source and a Target (teacher forcing), and `write` writes freely.

Vaswani et al. (2017); the other place for the norms: Xiong et al. (2020).
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import Attention, MultiHeadAttention
from .masks import padding_mask
from .norms import LayerNorm
from .positions import sinusoidal_positions
from .recurrent import END, PAD, START, check_ids, shifted

__all__ = [
    "PLACES",
    "AddNorm",
    "DecoderLayer",
    "EncoderLayer",
    "FeedForward",
    "Read",
    "TokenEmbedding",
    "Transformer",
    "Written",
]

PLACES = ("post", "pre")


class Read(NamedTuple):
    """A Source that was read.

    Attributes
    ----------
    states : (B, S, D)
        One for each token of the Source.
    attn_mask : (B, 1, S) bool
        True = a real token, which may be attended to.
    weights : (N, B, H, S, S) or None
        Self-attention of all N layers and H heads; rows are queries. None if not needed.
    """

    states: Tensor
    attn_mask: Tensor
    weights: Tensor | None


class Written(NamedTuple):
    """What a `Transformer` wrote, with every weight that it looked with.

    The weights are None where they were not needed.

    Attributes
    ----------
    ids : (B, L) integers
        The word that scores highest at each place.
    logits : (B, L, words)
        A score for each word.
    encoder : (N, B, H, S, S)
        The Source looks at itself: N layers, H heads.
    decoder : (N, B, H, L, L)
        The Target looks at itself. Row i stands for what is known *before* word i: the start
        token and the words up to i - 1.
    cross : (N, B, H, L, S)
        The Target looks at the Source.
    """

    ids: Tensor
    logits: Tensor
    encoder: Tensor | None
    decoder: Tensor | None
    cross: Tensor | None

    @property
    def weights(self) -> Tensor | None:
        """One map (B, L, S), where only one is asked for: the last layer's, mean over heads."""
        return None if self.cross is None else self.cross[-1].mean(1)


class TokenEmbedding(nn.Module):
    """Give each token a vector: what it is, plus where it stands.

    Parameters
    ----------
    words : int
        The size of the vocabulary.
    width : int
        D; even.
    longest : int
        For how many positions.
    positions : bool
        Whether positions are added at all.

    Notes
    -----
    As in the paper, a word's vector is multiplied by √D before the positions are added. The
    vectors start with deviation 1/√D, so that the product has deviation 1, of the size of the
    sines. (Not as in the paper: Source, Target and output layer each have a matrix of their own.)

    References
    ----------
    Vaswani et al. (2017), sections 3.4 and 3.5.

    Examples
    --------
    >>> TokenEmbedding(9, 8, longest=20)(torch.tensor([[3, 4, 0]])).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, words: int, width: int, longest: int, *, positions: bool = True) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        nn.init.normal_(self.words.weight, std=width**-0.5)
        self.scale, self.longest = width**0.5, longest
        where = sinusoidal_positions(longest, width)
        self.register_buffer("positions", where if positions else where * 0, persistent=False)

    def forward(self, ids: Tensor, name: str = "ids") -> Tensor:
        """Map numbers (B, L) to vectors (B, L, D).

        Raises
        ------
        ValueError
            If `ids` are no (B, L) integers, a number is unknown, or there are more tokens than
            positions; calls them `name`.
        """
        _check_ids(name, ids, self.words.num_embeddings, self.longest)
        return self.words(ids) * self.scale + self.positions[: ids.shape[1]]


class FeedForward(nn.Module):
    """Two layers with a ReLU between, for each token alone: no token sees another one here.

    Parameters
    ----------
    width : int
        D, of what comes in and goes out.
    hidden : int
        The width between.

    References
    ----------
    Vaswani et al. (2017), equation 2.

    Examples
    --------
    >>> FeedForward(8, 16)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 8])
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.first_layer = nn.Linear(width, hidden)
        self.second_layer = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens (B, L, D) to (B, L, D)."""
        return self.second_layer(self.first_layer(x).relu())


class AddNorm(nn.Module):
    """The frame around every part: what came in is added to what comes out; one norm.

    With ``place="post"`` (the paper's text and figure) a part f makes of x: norm(x + f(x)). With
    ``place="pre"`` it makes x + f(norm(x)). So a part is called as
    ``frame.after(x, f(frame.before(x)))``, whichever it is.

    Parameters
    ----------
    width : int
        D.
    place : {"post", "pre"}
        Where the norm stands.
    dropout : float
        Share of a part's output that is dropped in training.

    Raises
    ------
    ValueError
        If there is no such place.

    References
    ----------
    Vaswani et al. (2017), sections 3.1 and 5.4; Xiong et al. (2020), figure 1.

    Examples
    --------
    >>> x = torch.randn(1, 3, 8)
    >>> pre = AddNorm(8, "pre")
    >>> torch.equal(pre.after(x, pre.before(x)), x + pre.norm(x))
    True
    """

    def __init__(self, width: int, place: str = "post", dropout: float = 0.0) -> None:
        super().__init__()
        if place not in PLACES:
            raise ValueError(f"norm: expected one of {', '.join(PLACES)}; got {place!r}")
        self.place, self.dropout = place, nn.Dropout(dropout)
        self.norm = LayerNorm(width, fused=True)

    def before(self, x: Tensor) -> Tensor:
        """Return what the part gets, (B, L, D)."""
        return self.norm(x) if self.place == "pre" else x

    def after(self, x: Tensor, part: Tensor) -> Tensor:
        """Add the part's output to what came in, both (B, L, D)."""
        added = x + self.dropout(part)
        return added if self.place == "pre" else self.norm(added)


class EncoderLayer(nn.Module):
    """Look at the own sentence, then think about each token.

    Parameters
    ----------
    width, heads, hidden : int
        D; H, which divides D; the feed-forward layer's inner width.
    norm : {"post", "pre"}
        See `AddNorm`.
    dropout : float
        See `AddNorm`.

    Notes
    -----
    The same function as ``nn.TransformerEncoderLayer(…, norm_first=norm == "pre")``.

    Examples
    --------
    >>> x, weights = EncoderLayer(8, heads=2, hidden=16)(torch.zeros(1, 3, 8))
    >>> x.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(
        self, width: int, heads: int, hidden: int, *, norm: str = "post", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden)
        self.frames = nn.ModuleList(AddNorm(width, norm, dropout) for _ in range(2))

    def forward(
        self, x: Tensor, attn_mask: Tensor | None = None, *, need_weights: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        """Map tokens (B, S, D) to tokens and weights (B, H, S, S).

        Parameters
        ----------
        x : (B, S, D)
        attn_mask : bool, optional
            True = may attend; see `MultiHeadAttention`.
        need_weights : bool
            False gives None for the weights, and is faster.
        """
        first, second = self.frames
        seen = first.before(x)
        looked, own = self.attention(seen, seen, seen, attn_mask, need_weights=need_weights)
        x = first.after(x, looked)
        return second.after(x, self.feed_forward(second.before(x))), _weights(own)


class DecoderLayer(nn.Module):
    """Look at the words so far, then at the Source, then think about each word.

    Parameters
    ----------
    width, heads, hidden, norm, dropout
        See `EncoderLayer`.

    Notes
    -----
    The same function as ``nn.TransformerDecoderLayer(…, norm_first=norm == "pre")``.

    Examples
    --------
    >>> layer = DecoderLayer(8, heads=2, hidden=16)
    >>> _, own, cross = layer(torch.zeros(1, 3, 8), torch.zeros(1, 5, 8))
    >>> own.shape, cross.shape
    (torch.Size([1, 2, 3, 3]), torch.Size([1, 2, 3, 5]))
    """

    def __init__(
        self, width: int, heads: int, hidden: int, *, norm: str = "post", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads)
        self.cross_attention = MultiHeadAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden)
        self.frames = nn.ModuleList(AddNorm(width, norm, dropout) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        states: Tensor,
        attn_mask: Tensor | None = None,
        source_mask: Tensor | None = None,
        *,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Map words (B, L, D) to words and both kinds of weights.

        Parameters
        ----------
        x : (B, L, D)
        states : (B, S, D)
            Of the encoder.
        attn_mask, source_mask : bool, optional
            True = may attend: among the words, and from the words to the Source.
        need_weights : bool
            False gives None for both kinds of weights, and is faster.

        Returns
        -------
        x : (B, L, D)
        own : (B, H, L, L) or None
        cross : (B, H, L, S) or None
        """
        first, second, third = self.frames
        seen = first.before(x)
        looked, own = self.attention(seen, seen, seen, attn_mask, need_weights=need_weights)
        x = first.after(x, looked)
        # queries are words, keys and values are the Source's tokens
        given = (second.before(x), states, states, source_mask)
        looked, cross = self.cross_attention(*given, need_weights=need_weights)
        x = second.after(x, looked)
        x = third.after(x, self.feed_forward(third.before(x)))
        return x, _weights(own), _weights(cross)


class Transformer(nn.Module):
    """Source → encoder layers → decoder layers → Target.

    Parameters
    ----------
    source_words, target_words : int
        Sizes of the vocabularies; number 0 is padding, in the Target 1 is start and 2 the end.
    width : int
        D; even.
    heads : int
        H of every attention; divides D.
    layers : int
        N, on each side.
    hidden : int, optional
        Inner width of the feed-forward layers; twice D if None (the paper has four times).
    norm : {"post", "pre"}
        Where the norms stand; "pre" puts one more behind the last layer of each side.
    positions : bool
        Whether tokens know where they stand.
    longest : int
        The most tokens that a Source, or a Target with its end token, may have.
    ahead : int
        How many words beyond itself a position of the decoder may see. 0 is right; with 1 it sees
        the very word that it is to write: the leak of chapter 5, for experiments.
    dropout : float
        See `AddNorm`; also behind the embeddings.

    Raises
    ------
    ValueError
        If D is odd or not divisible by H, or there is no such place for the norm.

    References
    ----------
    Vaswani et al. (2017), section 3.

    Examples
    --------
    >>> model = Transformer(9, 7, width=8, heads=2)
    >>> written = model(torch.tensor([[3, 4]]), torch.tensor([[5, 6, 2]]))
    >>> written.logits.shape, written.cross.shape
    (torch.Size([1, 3, 7]), torch.Size([2, 1, 2, 3, 2]))
    """

    def __init__(
        self,
        source_words: int,
        target_words: int,
        width: int = 40,
        heads: int = 4,
        layers: int = 2,
        hidden: int | None = None,
        *,
        norm: str = "post",
        positions: bool = True,
        longest: int = 100,
        ahead: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"layers: expected 1 or more, got {layers}")
        size = (width, heads, 2 * width if hidden is None else hidden)
        options = {"norm": norm, "dropout": dropout}
        self.source = TokenEmbedding(source_words, width, longest, positions=positions)
        self.target = TokenEmbedding(target_words, width, longest, positions=positions)
        self.dropout, self.ahead = nn.Dropout(dropout), ahead
        self.encoder = nn.ModuleList(EncoderLayer(*size, **options) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(*size, **options) for _ in range(layers))
        # a pre-norm stack never normalises what it hands on: once, at its end
        last = [LayerNorm(width, fused=True) if norm == "pre" else nn.Identity() for _ in range(2)]
        self.encoder_norm, self.decoder_norm = last
        self.output_layer = nn.Linear(width, target_words)

    def target_mask(self, inputs: Tensor) -> Tensor:
        """Return who may see whom among the words (B, L): (B, L, L) bool, True = may attend."""
        length = inputs.shape[1]
        past = torch.ones(length, length, dtype=torch.bool).tril(self.ahead)
        return past & padding_mask(inputs)

    def encode(self, source: Tensor, *, need_weights: bool = True) -> Read:
        """Read numbers (B, S), 0 = padding; without `need_weights` the weights are None.

        Raises
        ------
        ValueError
            If they are no integers (B, S), one is unknown, or there are more than positions.
        """
        x, attn_mask, weights = self.source(source, "source"), padding_mask(source), []
        x = self.dropout(x)
        for layer in self.encoder:
            x, seen = layer(x, attn_mask, need_weights=need_weights)
            weights.append(seen)
        return Read(self.encoder_norm(x), attn_mask, _stacked(weights))

    def decode(self, inputs: Tensor, read: Read, *, need_weights: bool = True) -> Written:
        """Name the next word after each of `inputs` (B, L), which begin with the start token.

        Without `need_weights` those of the decoder are None.

        Raises
        ------
        ValueError
            As in `encode`; or if there are not as many sentences as were read.
        """
        x = self.dropout(self.target(inputs, "target"))
        if len(inputs) != len(read.states):
            raise ValueError(
                f"target: expected {len(read.states)} sentences, as the source has, "
                f"got {tuple(inputs.shape)}"
            )
        attn_mask, own, cross = self.target_mask(inputs), [], []
        for layer in self.decoder:
            given = (x, read.states, attn_mask, read.attn_mask)
            x, *weights = layer(*given, need_weights=need_weights)
            own.append(weights[0])
            cross.append(weights[1])
        logits = self.output_layer(self.decoder_norm(x))
        maps = (read.weights, _stacked(own), _stacked(cross))
        return Written(logits.argmax(-1), logits, *maps)

    def forward(self, source: Tensor, target: Tensor, *, need_weights: bool = True) -> Written:
        """Write under teacher forcing: all words at once, before each stands the right one.

        Parameters
        ----------
        source : (B, S) integers
        target : (B, L) integers
            The right words with their end token, 0 = padding.
        need_weights : bool
            False leaves out all weights (None in their place): the same logits, faster. For
            training, where nobody reads them.

        Returns
        -------
        Written

        Raises
        ------
        ValueError
            As in `encode` and `decode`.
        """
        _check_ids("target", target, self.target.words.num_embeddings, self.target.longest)
        read = self.encode(source, need_weights=need_weights)
        return self.decode(shifted(target), read, need_weights=need_weights)

    @torch.no_grad()
    def write(self, source: Tensor, limit: int) -> Written:
        """Write freely: before each word stand those that were written, each the likeliest.

        Parameters
        ----------
        source : (B, S) integers
        limit : int
            The most words, the end token included; no more than there are positions.

        Returns
        -------
        Written
            After its end token a sentence goes on with padding; the length L is where the last
            one ended.

        Raises
        ------
        ValueError
            If `limit` is out of range, and as in `encode`.
        """
        if not 1 <= limit <= self.target.longest:
            raise ValueError(f"limit: expected 1 to {self.target.longest} words, got {limit}")
        read = self.encode(source)
        inputs = torch.full((len(source), 1), START)
        ended = torch.zeros(len(source), dtype=torch.bool)
        while True:
            written = self.decode(inputs, read)  # all words anew: simple, and slower than it need
            word = written.ids[:, -1].masked_fill(ended, PAD)
            inputs = torch.cat([inputs, word[:, None]], 1)
            ended = ended | (word == END)
            if ended.all() or inputs.shape[1] > limit:
                return written._replace(ids=inputs[:, 1:])


def _weights(attention: Attention | None) -> Tensor | None:
    return None if attention is None else attention.weights


def _stacked(weights: list[Tensor | None]) -> Tensor | None:
    """Join the layers (N, …), if their weights were kept."""
    return None if weights[0] is None else torch.stack(weights)


def _check_ids(name: str, ids: Tensor, words: int, longest: int) -> None:
    check_ids(name, ids, words)
    if ids.shape[1] > longest:
        raise ValueError(
            f"{name}: expected at most {longest} tokens (the model has no more positions), "
            f"got {tuple(ids.shape)}"
        )
