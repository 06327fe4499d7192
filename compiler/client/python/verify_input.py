"""Bytes of files and of standard input, no longer than the command of the project reads."""

import argparse
import sys

# Longest body that is read, like that of the command of the project.
INPUT_BYTES_MAX = 67108864


class TooLong(Exception):
    """Input that is not read to its end."""


class Unusable(Exception):
    """An option that is not about what is judged."""


def read(path):
    with opened(path) as file:
        return within(file.read(INPUT_BYTES_MAX + 1))


def opened(path):
    """A file, or standard input for -."""
    return open(sys.stdin.fileno() if path == "-" else path, "rb", closefd=path != "-")


def readable(path):
    """The path of an option, for argparse."""
    try:
        opened(path).close()
    except OSError as error:
        raise argparse.ArgumentTypeError(error) from error
    return path


def within(data):
    if len(data) > INPUT_BYTES_MAX:
        raise TooLong("longer than %d bytes" % INPUT_BYTES_MAX)
    return data


def lines_of(path):
    """The lines of a file without their ends; of one that is too long only the beginning is kept."""
    with opened(path) as file:
        for line in iter(lambda: file.readline(INPUT_BYTES_MAX + 1), b""):
            rest = line
            while len(rest) > INPUT_BYTES_MAX and not rest.endswith(b"\n"):
                rest = file.readline(INPUT_BYTES_MAX + 1)
            yield line[:-1] if line.endswith(b"\n") else line
