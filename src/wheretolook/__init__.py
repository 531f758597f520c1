"""Where to Look: the small package behind the book on attention.

Each module holds one idea and imports only from those above it in this list: ``masks``, ``norms``,
``positions``, ``attention``, ``check``; ``data``, ``saliency``, ``cache``, ``training``; the models
``glimpse``, ``sentences``, ``recall`` and ``stack``; ``links`` and ``measures``, which train and
question them (``data.links`` holds the sentences, ``evidence.links`` the tables about them);
``evidence``; ``tokens``, ``figures``, ``explore``.
"""

__version__ = "0.1.0"
