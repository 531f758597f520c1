"""How much one vector holds: copying backwards, by length and by the width of c."""

from ..reversal import letters_right, train_reversal

__all__ = ["backwards"]

Rows = dict[str, dict[str, float]]
LENGTHS = (2, 4, 6, 8, 10, 12, 14, 16, 20)


def backwards(
    seed: int, *, label: str, attention: bool = False, width: int = 48, shuffled: bool = False
) -> Rows:
    """Train one model; test it on lengths inside and outside those of its training."""
    made = {"attention": attention, "width": width}
    model, _ = train_reversal(seed, shuffled=shuffled, **made)
    rows = {
        label: {
            "parameters": sum(p.numel() for p in model.parameters()),
            **{f"{length} letters": letters_right(model, length, seed) for length in LENGTHS},
        }
    }
    return rows
