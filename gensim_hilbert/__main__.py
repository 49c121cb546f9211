"""The commands `gensim-hilbert` and `python -m gensim_hilbert`."""

import signal


def main() -> None:
    """Load the command line, and run it."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:  # Until everything is loaded, Ctrl-C ends the process at once, without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gensim_hilbert.cli import main as run_command

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command()


if __name__ == "__main__":
    main()
