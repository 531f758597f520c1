"""The loop repeats itself to the last bit, and what is remembered is what was trained."""

import pytest
import torch
from torch import nn

from wheretolook.cache import fingerprint, key
from wheretolook.training import History, Recipe, fit, remembered, seeded, trained


def noise(generator):
    while True:
        yield torch.randn(16, 4, generator=generator)


def halve(model, x):
    return (model(x) - x / 2).square().mean()


def linear():
    torch.manual_seed(0)
    return nn.Linear(4, 4)


def test_the_same_seed_gives_the_same_history_twice():
    runs = [fit(linear(), halve, noise, Recipe(steps=30), seed=3).losses for _ in range(2)]
    assert runs[0] == runs[1]
    assert fit(linear(), halve, noise, Recipe(steps=30), seed=4).losses != runs[0]


def test_it_takes_exactly_the_steps_it_is_given_and_learns():
    history = fit(linear(), halve, noise, Recipe(steps=300, rate=0.02))
    assert len(history.losses) == 300
    assert history.losses[-1] < history.losses[0] / 100
    assert fit(linear(), halve, noise, Recipe(steps=0)).losses == []


def test_it_leaves_threads_random_numbers_and_mode_as_a_reader_expects():
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))
    torch.set_rng_state(before)
    fit(model, halve, noise, Recipe(steps=2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    assert not model.training


def test_what_can_t_be_trained_says_so():
    with pytest.raises(ValueError, match="0 steps or more, got -1"):
        fit(linear(), halve, noise, Recipe(steps=-1))
    with pytest.raises(ValueError, match="finite number.*step 0"):
        fit(linear(), lambda model, x: halve(model, x) / 0, noise, Recipe(steps=3))


def test_the_bar_is_quiet_when_asked(capsys, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_PROGRESS", "0")
    fit(linear(), halve, noise, Recipe(steps=3))
    assert capsys.readouterr() == ("", "")


def test_weights_are_remembered_until_told_otherwise(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    calls = []

    def once(model, config):
        def train():
            calls.append(config)
            return fit(model, halve, noise, Recipe(steps=5))

        return remembered(model, train, config, "training")

    first, second = linear(), nn.Linear(4, 4)
    assert once(first, {"a": 1}) == once(second, {"a": 1})
    assert torch.equal(first.weight, second.weight) and len(calls) == 1
    once(linear(), {"a": 2})
    assert len(calls) == 2
    monkeypatch.setenv("WHERETOLOOK_RETRAIN", "1")
    once(linear(), {"a": 1})
    assert len(calls) == 3


def test_small_numbers_are_small_again_after_training():
    tiny = torch.tensor(1e-39)
    batches = lambda generator: iter([torch.zeros(1, 4)] * 2)  # noqa: E731
    fit(linear(), lambda model, x: model(x).sum(), batches, Recipe(steps=1))
    assert (tiny * 1).item() > 0


def test_a_disk_that_can_t_be_written_costs_only_the_memory(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path / "file"))
    history = remembered(linear(), lambda: History([1.0]), {}, "training")
    assert history.losses == [1.0]


def test_a_disk_that_fills_up_costs_only_the_memory(tmp_path, monkeypatch):
    def full(*_):
        raise RuntimeError("unexpected pos")  # what torch says, which is no OSError

    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    monkeypatch.setattr(torch, "save", full)
    assert remembered(linear(), lambda: History([1.0]), {}, "training").losses == [1.0]


def test_half_a_file_is_trained_again(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))
    remembered(linear(), lambda: History([1.0]), {}, "training")
    (file,) = (tmp_path / "weights").iterdir()
    file.write_bytes(b"")
    assert remembered(linear(), lambda: History([2.0]), {}, "training").losses == [2.0]


def test_trained_fits_once_and_a_seed_or_a_recipe_makes_it_another_run(tmp_path, monkeypatch):
    monkeypatch.setenv("WHERETOLOOK_CACHE", str(tmp_path))

    def run(seed=0, steps=3, **config):
        how = {"seed": seed, "label": "halving", "config": config, "module": "training"}
        return trained(linear(), halve, noise, Recipe(steps=steps), **how)

    assert run() == run()
    assert run().losses == fit(linear(), halve, noise, Recipe(steps=3)).losses
    run(seed=1), run(steps=4), run(width=2)
    assert len(list((tmp_path / "weights").iterdir())) == 4


def test_a_seed_says_what_is_drawn_and_leaves_the_reader_s_numbers_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with seeded(3):
        first = torch.rand(4)
    assert torch.equal(torch.get_rng_state(), before)
    with seeded(3):
        assert torch.equal(torch.rand(4), first)


def test_a_fingerprint_follows_imports_and_ignores_docstrings_and_comments(tmp_path, monkeypatch):
    import wheretolook.cache as cache

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        fingerprint.cache_clear()

    monkeypatch.setattr(cache, "_PACKAGE", tmp_path)
    write("low", "x = 1")
    write("high", '"""A."""\nfrom .low import x\n\ndef f():\n    """B."""\n    return x\n')
    try:
        first = fingerprint("high")
        write("high", '"""C."""\nfrom .low import x\n\ndef f():\n    return x  # D\n')
        assert fingerprint("high") == first
        write("low", "x = 2")
        assert fingerprint("high") != first
        with pytest.raises(ValueError, match="no 'missing'"):
            fingerprint("missing")
    finally:
        fingerprint.cache_clear()


def test_a_key_depends_on_configuration_and_code():
    assert key({"a": 1}, "masks") != key({"a": 2}, "masks")
    assert key({"a": 1}, "masks") != key({"a": 1}, "positions")
