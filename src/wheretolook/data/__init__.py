"""Data with known answers, generated from seeds: nothing is downloaded."""
