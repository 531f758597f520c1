"""Where to Look: the small package behind the book on attention.

Each module holds one idea and imports only from those above it in this list: ``masks``, ``norms``,
``positions``, ``attention``, ``recurrent``, ``check``; ``data``, ``saliency``, ``cache``,
``training``; the systems ``glimpse`` (chapter 1), ``translator``, ``reversal``, ``captioning`` and
``speech`` (chapters 2 and 3), ``sentences`` and ``recall`` (chapter 4), ``leak`` (chapter 5),
``stack`` (chapter 6), ``offsets`` (chapter 7), ``transformer`` and ``transformer_translator``
(chapter 8); ``links`` and ``measures``, which train and question the sentence models
(``data.tasks`` says what their sentences are, ``data.link_grammars`` holds the words, and
``evidence.links`` the tables about them); ``evidence``;
``tokens``, ``figures``, ``explore``; ``classroom``, which leans on
``check`` alone.
"""

__version__ = "0.1.0"
