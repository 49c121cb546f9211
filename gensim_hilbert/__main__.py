"""`python -m gensim_hilbert` is the command line."""

from gensim_hilbert.cli import main

main()
