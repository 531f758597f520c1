"""Positions: self-attention does not know order, so order is added to the embeddings."""

import torch
from torch import Tensor

__all__ = ["sinusoidal_positions"]


def sinusoidal_positions(length: int, width: int, *, base: float = 10_000.0) -> Tensor:
    r"""Write each position as sines and cosines of falling frequency.

    Feature 2i is :math:`\sin(p / base^{2i/D})`, feature 2i + 1 its cosine: a clock with D/2 hands.

    Parameters
    ----------
    length : int
        L, how many positions.
    width : int
        D, the model width; even, as sines and cosines come in pairs.
    base : float
        The slowest hand turns once in about ``2 * pi * base`` positions.

    Returns
    -------
    (L, D) float32
        One row a position, values in [-1, 1].

    Raises
    ------
    ValueError
        If `width` is odd or a size is negative.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> sinusoidal_positions(2, 4)[0]
    tensor([0., 1., 0., 1.])
    """
    if length < 0:
        raise ValueError(f"length: expected 0 or more, got {length}")
    if width < 0 or width % 2:
        raise ValueError(f"width: expected an even number, 0 or more, got {width}")
    # float64 first: the angle of a late position loses digits in float32
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    frequency = base ** -(torch.arange(0, width, 2, dtype=torch.float64) / max(width, 1))
    angle = position * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()
