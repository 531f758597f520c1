"""Where to Look: the small package behind the book on attention.

Each module holds one idea and imports only from those above it in this list:
``masks``, ``norms``, ``positions``, ``attention``, the models, ``data``, ``training``,
``evidence``, ``tokens``, ``figures``, ``explore``, ``check``, ``classroom``.
"""

__version__ = "0.1.0"
