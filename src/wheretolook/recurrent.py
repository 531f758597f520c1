"""Encoder, context, decoder: a framework with one wire in the middle.

An encoder reads the Source; a decoder writes the Target, word by word. All that passes between
them is the *context* c. It can be one vector for the whole sentence (`FixedContext`), or a new one
for each word, c_i, made by attention (`AdditiveContext`).

Sutskever, Vinyals and Le (2014); Cho et al. (2014); Bahdanau, Cho and Bengio (2015).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .attention import Additive

__all__ = [
    "END",
    "FORMS",
    "PAD",
    "START",
    "AdditiveContext",
    "Decoded",
    "Decoder",
    "Encoded",
    "EncoderDecoder",
    "FixedContext",
    "Look",
    "SequenceEncoder",
    "TextEncoder",
    "check_ids",
    "naming_loss",
    "shifted",
]

PAD, START, END = 0, 1, 2  # what the first three numbers of every Target mean
FORMS = ("last", "mapped", "pooled")


class Encoded(NamedTuple):
    """A Source that was read.

    Attributes
    ----------
    states : (B, S, D)
        h_1 … h_S, one for each element of the Source: the keys.
    values : (B, S, Ev)
        What a context is made of; mostly the states themselves.
    last : (B, D)
        h_T, what is known after the last element.
    attn_mask : (B, S) bool
        True = a real element, which may be attended to.
    """

    states: Tensor
    values: Tensor
    last: Tensor
    attn_mask: Tensor


class Look(NamedTuple):
    """What the decoder gets for one word.

    Attributes
    ----------
    context : (B, Ev)
        c_i.
    weights : (B, S) or None
        How much each element counts; None for a fixed context.
    choice : (B,) integers or None
        The one element that was chosen, where the attention is hard.
    """

    context: Tensor
    weights: Tensor | None = None
    choice: Tensor | None = None


class Decoded(NamedTuple):
    """What an `EncoderDecoder` wrote.

    Attributes
    ----------
    ids : (B, L) integers
        The word that scores highest at each place.
    logits : (B, L, words)
        A score for each word.
    contexts : (B, L, Ev)
        c_1 … c_L.
    weights : (B, L, S) or None
        The attention weights, a row for each word.
    choices : (B, L) integers or None
        The chosen elements, where the attention is hard.
    """

    ids: Tensor
    logits: Tensor
    contexts: Tensor
    weights: Tensor | None
    choices: Tensor | None


class SequenceEncoder(nn.Module):
    """Read vectors one after another: h_t = f(h_{t-1}, x_t), f an LSTM.

    Parameters
    ----------
    features : int
        The width of x_t.
    width : int
        D of the states.
    two_way : bool
        Whether a second LSTM reads from the end; each state is then made of two halves.

    Raises
    ------
    ValueError
        If a two-way width is odd.

    Examples
    --------
    >>> real = torch.tensor([[True, True, False]])
    >>> SequenceEncoder(5, 8)(torch.zeros(1, 3, 5), real).states.shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, features: int, width: int, *, two_way: bool = False) -> None:
        super().__init__()
        if two_way and width % 2:
            raise ValueError(f"width: expected an even number for two ways, got {width}")
        self.width, self.values_width = width, width
        part = width // (1 + two_way)
        self.onward = nn.LSTM(features, part, batch_first=True)
        self.backward = nn.LSTM(features, part, batch_first=True) if two_way else None

    def forward(self, x: Tensor, attn_mask: Tensor) -> Encoded:
        """Read x (B, S, features); attn_mask (B, S) is True where x is real, from the start on.

        Returns
        -------
        Encoded
            States at padded places are 0. `last` of a two-way encoder is h_S of the one LSTM and
            h_1 of the other.

        Raises
        ------
        ValueError
            If the mask does not fit, a row is empty, or padding stands before something real.
        """
        lengths = _lengths(x, attn_mask)
        # What stands behind an element can't change its state: padding is met too late to matter.
        states, _ = self.onward(x)
        last = _at(states, lengths - 1)
        if self.backward is not None:
            states_back, _ = self.backward(_turned(x, lengths))
            last = torch.cat([last, _at(states_back, lengths - 1)], -1)
            states = torch.cat([states, _turned(states_back, lengths)], -1)
        states = states.masked_fill(~attn_mask.unsqueeze(-1), 0.0)
        return Encoded(states, states, last, attn_mask)


class TextEncoder(nn.Module):
    """Embed words or characters, then read them with an LSTM.

    Parameters
    ----------
    words : int
        The size of the vocabulary; number 0 is padding.
    width : int
        D of the states.
    embedding : int
        The width of a word's vector.
    two_way : bool
        See `SequenceEncoder`.
    values : {"states", "embeddings"}
        What a context is made of: the states, or the words' own vectors, which know nothing of
        their neighbours.

    Raises
    ------
    ValueError
        If `values` is neither.

    Examples
    --------
    >>> encoded = TextEncoder(words=9, width=8)(torch.tensor([[3, 4, 0]]))
    >>> encoded.states.shape, encoded.attn_mask.tolist()
    (torch.Size([1, 3, 8]), [[True, True, False]])
    """

    def __init__(
        self,
        words: int,
        width: int,
        *,
        embedding: int = 32,
        two_way: bool = False,
        values: str = "states",
    ) -> None:
        super().__init__()
        if values not in ("states", "embeddings"):
            raise ValueError(f"values: expected 'states' or 'embeddings', got {values!r}")
        self.values = values
        self.words = nn.Embedding(words, embedding, padding_idx=PAD)
        self.sequence = SequenceEncoder(embedding, width, two_way=two_way)
        self.width, self.values_width = width, width if values == "states" else embedding

    def forward(self, ids: Tensor) -> Encoded:
        """Read ids (B, S), 0 = padding.

        Raises
        ------
        ValueError
            If `ids` are no (B, S) integers, a number is unknown, or a sentence is empty.
        """
        check_ids("ids", ids, self.words.num_embeddings)
        x = self.words(ids)
        encoded = self.sequence(x, ids != PAD)
        return encoded if self.values == "states" else encoded._replace(values=x)


class FixedContext(nn.Module):
    """One c for the whole sentence, in three forms.

    Parameters
    ----------
    width : int
        D of the states.
    form : {"last", "mapped", "pooled"}
        c = h_T; c = q(h_T); c = q(h_1, …, h_T). Here q is a linear layer and tanh, of the mean
        of the states if it gets them all.

    Raises
    ------
    ValueError
        If there is no such form.

    Examples
    --------
    >>> encoded = TextEncoder(words=9, width=8)(torch.tensor([[3, 4]]))
    >>> c = FixedContext(8, "last")(encoded)(torch.zeros(1, 5)).context
    >>> torch.equal(c, encoded.states[:, -1])
    True
    """

    def __init__(self, width: int, form: str = "last") -> None:
        super().__init__()
        if form not in FORMS:
            raise ValueError(f"form: expected one of {', '.join(FORMS)}; got {form!r}")
        self.form, self.width = form, width
        self.layer = None if form == "last" else nn.Linear(width, width)

    def forward(self, encoded: Encoded) -> Callable[[Tensor], Look]:
        """Return what answers every query (B, query_width), always the same."""
        c = encoded.last
        if self.form == "pooled":
            real = encoded.attn_mask.unsqueeze(-1)
            c = (encoded.states * real).sum(1) / real.sum(1)
        if self.layer is not None:
            c = self.layer(c).tanh()
        return lambda query: Look(c)


class AdditiveContext(nn.Module):
    """A new c_i for each word: attention over the states, by Bahdanau.

    The query is what the decoder knows before the word, h'_{i-1}. Compared with each h_j it gives
    the scores; softmax makes them the weights a_ij; and c_i = Σ_j a_ij h_j.

    Parameters
    ----------
    query_width : int
        Of the decoder's state.
    key_width : int
        D of the encoder's states.
    values_width : int
        Ev of what is summed.
    hidden : int
        Terms of each score.

    References
    ----------
    Bahdanau, Cho and Bengio (2015), equations 5 and 6 and appendix A.1.2.

    Examples
    --------
    >>> encoded = TextEncoder(words=9, width=8)(torch.tensor([[3, 4, 0]]))
    >>> look = AdditiveContext(6, 8)(encoded)
    >>> weights = look(torch.zeros(1, 6)).weights.detach()
    >>> weights.sum(-1).round(decimals=3), weights[0, 2]
    (tensor([1.]), tensor(0.))
    """

    def __init__(
        self, query_width: int, key_width: int, values_width: int | None = None, hidden: int = 32
    ) -> None:
        super().__init__()
        self.width = key_width if values_width is None else values_width
        self.scorer = Additive(query_width, key_width, hidden)

    def forward(self, encoded: Encoded) -> Callable[[Tensor], Look]:
        """Return what answers a query (B, query_width)."""
        # W_k h_j and the mask are the same for all queries: computed once, not once a word
        keys = self.scorer.key_layer(encoded.states)
        sees = encoded.attn_mask.any(-1, keepdim=True)
        hidden = ~encoded.attn_mask & sees

        def look(query: Tensor) -> Look:
            terms = (self.scorer.query_layer(query).unsqueeze(1) + keys).tanh()
            scores = (terms @ self.scorer.vector).masked_fill(hidden, -torch.inf)
            weights = scores.softmax(-1) * sees  # as `attention_weights`: 0 where all is hidden
            return Look((weights.unsqueeze(1) @ encoded.values).squeeze(1), weights)

        return look


class Decoder(nn.Module):
    """Write words: each from c, the word before, and h'_{i-1}.

    It starts from a state of zeros, so that c is the only way from the Source to the Target.

    Parameters
    ----------
    words : int
        The size of the vocabulary; 0 is padding, 1 the start, 2 the end.
    context_width : int
        Ev of c.
    width : int
        Of h'.
    embedding : int
        The width of a word's vector.

    Examples
    --------
    >>> look = lambda query: Look(torch.zeros(2, 4))
    >>> Decoder(9, 4, 8)(torch.ones(2, 5, dtype=torch.long), look).logits.shape
    torch.Size([2, 5, 9])
    """

    def __init__(self, words: int, context_width: int, width: int, *, embedding: int = 32) -> None:
        super().__init__()
        self.width = width
        self.words = nn.Embedding(words, embedding, padding_idx=PAD)
        self.core = nn.LSTMCell(embedding + context_width, width)
        self.output_layer = nn.Linear(width + context_width, words)

    def start(self, batch: int) -> tuple[Tensor, Tensor]:
        """Return the first state: zeros (B, width), for h' and for the LSTM's cell."""
        zeros = self.core.weight_hh.new_zeros(batch, self.width)
        return zeros, zeros

    def step(
        self, word: Tensor, state: tuple[Tensor, Tensor], look: Callable[[Tensor], Look]
    ) -> tuple[tuple[Tensor, Tensor], Look]:
        """Go on by one word.

        Parameters
        ----------
        word : (B, embedding)
            The vector of the word before.
        state : pair of (B, width)
            h'_{i-1} and the LSTM's cell.
        look : function
            What answers the query h'_{i-1}.

        Returns
        -------
        state : pair of (B, width)
            h'_i and the cell.
        seen : Look
        """
        seen = look(state[0])
        return self.core(torch.cat([word, seen.context], -1), state), seen

    def name(self, hidden: Tensor, context: Tensor) -> Tensor:
        """Score all words (…, words), from h'_i (…, width) and c_i (…, Ev)."""
        return self.output_layer(torch.cat([hidden, context], -1))

    def forward(self, inputs: Tensor, look: Callable[[Tensor], Look]) -> Decoded:
        """Write with given words before each: teacher forcing; inputs (B, L)."""
        state, hidden, looks = self.start(len(inputs)), [], []
        for word in self.words(inputs).unbind(1):
            state, seen = self.step(word, state, look)
            hidden.append(state[0])
            looks.append(seen)
        contexts, weights, choices = _joined(looks)
        logits = self.name(torch.stack(hidden, 1), contexts)
        return Decoded(logits.argmax(-1), logits, contexts, weights, choices)


class EncoderDecoder(nn.Module):
    """Source → encoder → context → decoder → Target.

    Parameters
    ----------
    encoder : nn.Module
        Reads a Source, whatever it is, and returns an `Encoded`.
    context : FixedContext or AdditiveContext, or one of the reader's own
        Takes the `Encoded` and returns a function that answers a query with a `Look`.
    decoder : Decoder

    Examples
    --------
    >>> encoder = TextEncoder(words=9, width=8)
    >>> model = EncoderDecoder(encoder, FixedContext(8), Decoder(7, 8, 8))
    >>> model(torch.tensor([[3, 4]]), torch.tensor([[5, 6, 2]])).logits.shape
    torch.Size([1, 3, 7])
    """

    def __init__(self, encoder: nn.Module, context: nn.Module, decoder: Decoder) -> None:
        super().__init__()
        self.encoder, self.context, self.decoder = encoder, context, decoder

    def forward(self, source: Tensor, target: Tensor) -> Decoded:
        """Write under teacher forcing: before each word stands the right one.

        Parameters
        ----------
        source
            What the encoder reads.
        target : (B, L) integers
            The right words with their end token, 0 = padding.

        Returns
        -------
        Decoded

        Raises
        ------
        ValueError
            If the target does not fit the source or the vocabulary.
        """
        check_ids("target", target, self.decoder.words.num_embeddings)
        encoded = self.encoder(source)
        if len(target) != len(encoded.states):
            raise ValueError(
                f"target: expected {len(encoded.states)} sentences, as the source has, "
                f"got {tuple(target.shape)}"
            )
        return self.decoder(shifted(target), self.context(encoded))

    @torch.no_grad()
    def write(self, source: Tensor, limit: int) -> Decoded:
        """Write freely: before each word stands the one that was written, the likeliest.

        Parameters
        ----------
        source
            What the encoder reads.
        limit : int
            The most words, the end token included.

        Returns
        -------
        Decoded
            After its end token a sentence goes on with padding; the length L is where the last
            one ended.

        Raises
        ------
        ValueError
            If `limit` is below 1.
        """
        if limit < 1:
            raise ValueError(f"limit: expected 1 word or more, got {limit}")
        encoded = self.encoder(source)
        look, state = self.context(encoded), self.decoder.start(len(encoded.states))
        word = torch.full((len(encoded.states),), START)
        ended = torch.zeros_like(word, dtype=torch.bool)
        ids, logits, looks = [], [], []
        while len(ids) < limit and not ended.all():
            state, seen = self.decoder.step(self.decoder.words(word), state, look)
            logits.append(self.decoder.name(state[0], seen.context))
            word = logits[-1].argmax(-1).masked_fill(ended, PAD)
            ended = ended | (word == END)
            ids.append(word)
            looks.append(seen)
        return Decoded(torch.stack(ids, 1), torch.stack(logits, 1), *_joined(looks))


def shifted(target: Tensor) -> Tensor:
    """Return what stands before each word: the start token, then the target but for its last.

    Examples
    --------
    >>> shifted(torch.tensor([[5, 6, 2]]))
    tensor([[1, 5, 6]])
    """
    return nn.functional.pad(target[:, :-1], (1, 0), value=START)


def naming_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Return the mean cross-entropy of all real words; padding does not count.

    Parameters
    ----------
    logits : (B, L, words)
    target : (B, L) integers
        0 = padding.

    Returns
    -------
    scalar

    Examples
    --------
    >>> naming_loss(torch.zeros(1, 2, 4), torch.tensor([[3, 0]])).exp()
    tensor(4.)
    """
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


def check_ids(name: str, ids: Tensor, words: int) -> None:
    """Raise ValueError unless ids are numbers of a vocabulary, in rows.

    Parameters
    ----------
    name : str
        What the ids are called where they came in.
    ids : (B, length) integers
    words : int
        The size of the vocabulary.

    Raises
    ------
    ValueError
        If they are no integers in rows, there is none, or one of them is unknown.

    Examples
    --------
    >>> check_ids("ids", torch.tensor([[3, 4, 0]]), words=9)
    """
    if ids.ndim != 2 or ids.is_floating_point() or ids.dtype == torch.bool or not ids.numel():
        raise ValueError(
            f"{name}: expected integers of shape (B, length), length 1 or more, "
            f"got {ids.dtype} {tuple(ids.shape)}"
        )
    if ids.min() < 0 or ids.max() >= words:
        wrong = ids[(ids < 0) | (ids >= words)][0].item()
        raise ValueError(f"{name}: expected numbers from 0 to {words - 1}, got {wrong}")


def _joined(looks: list[Look]) -> tuple[Tensor | None, ...]:
    """Join words along L: contexts, weights, choices."""
    return tuple(
        None if parts[0] is None else torch.stack(parts, 1) for parts in zip(*looks, strict=True)
    )


def _at(states: Tensor, place: Tensor) -> Tensor:
    """Return one state of each row (B, D)."""
    return states[torch.arange(len(states)), place]


def _turned(x: Tensor, lengths: Tensor) -> Tensor:
    """Turn each row around within its own length; padding stays where it is."""
    place = torch.arange(x.shape[1])
    turned = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    return x.gather(1, turned.unsqueeze(-1).expand_as(x))


def _lengths(x: Tensor, attn_mask: Tensor) -> Tensor:
    if attn_mask.shape != x.shape[:2] or attn_mask.dtype != torch.bool:
        raise ValueError(
            f"attn_mask: expected bool {tuple(x.shape[:2])} (True = real), "
            f"got {attn_mask.dtype} {tuple(attn_mask.shape)}"
        )
    lengths = attn_mask.sum(1)
    if not lengths.all():
        row = int((lengths == 0).nonzero()[0])
        raise ValueError(f"attn_mask: expected something real in every row, row {row} is empty")
    if (attn_mask[:, 1:] & ~attn_mask[:, :-1]).any():
        row = int((attn_mask[:, 1:] & ~attn_mask[:, :-1]).any(1).nonzero()[0])
        raise ValueError(f"attn_mask: expected padding at the end alone, not so in row {row}")
    return lengths
