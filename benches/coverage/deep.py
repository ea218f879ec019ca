"""The functions of `deep.c`."""

import ctypes
import os

import numpy

_native = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libdeep.so"))
_KINDS = "fiu"


def _sizes(x):
    return (ctypes.c_long * max(1, x.ndim))(*x.shape)


def sizes(x: numpy.ndarray):
    _native.sizes(x.ndim, _sizes(x))


def elements(x: numpy.ndarray):
    values = (ctypes.c_double * max(1, x.size))(*x.astype("f8").reshape(-1))
    _native.elements(x.ndim, _KINDS.find(x.dtype.kind), ctypes.c_long(x.size), values)


def numbers(mode: int, first: int, second: int, third: int):
    _native.numbers(mode, first, second, third)


def mixed(x: numpy.ndarray, axis: int, group: int):
    _native.mixed(x.ndim, _sizes(x), _KINDS.find(x.dtype.kind), axis, group)


def text(words: str, count: int):
    letters = words.encode("ascii")
    _native.text(len(letters), letters, count)


def bits(flags: int):
    _native.bits(ctypes.c_long(flags))
