"""Boolean masks: True means *may attend*.

The book has one polarity and says so beside every mask. PyTorch has two:
``scaled_dot_product_attention`` reads True as "takes part", ``nn.MultiheadAttention`` as "ignore".
"""

import torch
from torch import Tensor

__all__ = ["causal_mask", "check_mask", "padding_mask"]


def padding_mask(ids: Tensor, pad: int = 0) -> Tensor:
    """Let every query see the real tokens and no padding.

    Parameters
    ----------
    ids : (B, S) integers
        Token numbers; `pad` is reserved for padding.
    pad : int
        The number that means "nothing stands here".

    Returns
    -------
    (B, 1, S) bool
        True = may attend. The middle axis serves all L queries: pads are hidden as *columns*.

    Raises
    ------
    ValueError
        If `ids` is not a (B, S) tensor of integers.

    Examples
    --------
    >>> padding_mask(torch.tensor([[2, 3, 4, 0, 0]]))
    tensor([[[ True,  True,  True, False, False]]])
    """
    if ids.ndim != 2 or ids.is_floating_point() or ids.dtype == torch.bool:
        raise ValueError(
            f"ids: expected integers of shape (B, S), got {ids.dtype} {tuple(ids.shape)}"
        )
    return (ids != pad).unsqueeze(1)


def causal_mask(length: int, *, device: torch.device | str | None = None) -> Tensor:
    """Let every position see itself and what came before it.

    Parameters
    ----------
    length : int
        L, the number of positions.
    device : torch.device, optional
        Where the mask lives.

    Returns
    -------
    (L, L) bool
        True = may attend: the lower triangle with its diagonal.

    Raises
    ------
    ValueError
        If `length` is negative.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    if length < 0:
        raise ValueError(f"length: expected a number of positions, 0 or more, got {length}")
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def check_mask(attn_mask: Tensor, scores: Tensor) -> Tensor:
    """Return `attn_mask` if it fits the scores, else say what would fit.

    A mask that merely *broadcasts* is not enough: a (B, 1, 1, S) mask on (B, L, S) scores would
    silently give (B, B, L, S).

    Parameters
    ----------
    attn_mask : bool tensor
        (L, S), or as many axes as the scores, each of the same length or 1.
    scores : (..., L, S)
        What the mask is for.

    Returns
    -------
    bool tensor
        The same mask.

    Raises
    ------
    ValueError
        If the mask is not boolean or does not fit.

    Examples
    --------
    >>> check_mask(causal_mask(3), torch.zeros(2, 3, 3)).shape
    torch.Size([3, 3])
    """
    if not isinstance(attn_mask, Tensor) or attn_mask.dtype != torch.bool:
        got = attn_mask.dtype if isinstance(attn_mask, Tensor) else type(attn_mask).__name__
        raise ValueError(
            f"attn_mask: expected a bool tensor (True = may attend), got {got}; "
            "compare first, for example ids != 0"
        )
    mask, full = tuple(attn_mask.shape), tuple(scores.shape)
    per_axis = len(mask) == len(full) and all(m in (1, s) for m, s in zip(mask, full, strict=True))
    if mask != full[-2:] and not per_axis:
        raise ValueError(
            f"attn_mask: expected (L, S) = {full[-2:]}, or {len(full)} axes that fit the scores "
            f"{full} (each equal or 1), got {mask}"
        )
    return attn_mask
