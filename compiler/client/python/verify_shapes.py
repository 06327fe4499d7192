"""Shapes: what a member may be. An object has exactly the members of its shape, a list any number of one shape."""

import datetime
import re

from verify_json import is_number, is_same


def fits(value, shape):
    if isinstance(shape, dict):
        is_named = isinstance(value, dict) and set(value) == set(shape)
        return is_named and all(fits(value[name], shape[name]) for name in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    return shape(value)


def text(value):
    return isinstance(value, str)


def matching(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def null_or(shape):
    return lambda value: value is None or fits(value, shape)


def one_of(*values):
    return lambda value: any(is_same(value, one) for one in values)


def between(least, shape, most):
    """A list of so many items."""
    return lambda value: fits(value, [shape]) and least <= len(value) <= most


def whole(least):
    return lambda value: is_number(value) and value == int(value) and least <= value <= 2 ** 53 - 1


def day(value):
    try:
        return matching(r"\d{4}-\d{2}-\d{2}")(value) and datetime.date.fromisoformat(value) is not None
    except ValueError:
        return False


def utc_time(value):
    return matching(r".{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z")(value) and day(value[:10])


def either(*shapes):
    return lambda value: any(fits(value, shape) for shape in shapes)
