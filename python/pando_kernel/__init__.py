"""A Jupyter kernel: a cell runs on every tile, and equal answers are shown once. It drives `pando repl --json`."""
