"""Where multilingual retrieval breaks, how badly, why, and what would fix it.

Importing this package is cheap: torch, faiss and the encoders are imported inside the functions that need them.
"""

__version__ = "0.1.0"
