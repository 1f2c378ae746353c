"""Pseudo-terminals, as commands get them."""

import os


def drained(reader):
    """What was written to a pseudo-terminal whose other end is closed."""
    text = b""
    while True:
        try:
            piece = os.read(reader, 4096)
        except OSError:  # the end of a pseudo-terminal
            break
        if not piece:
            break
        text += piece
    os.close(reader)
    return text.decode()
