"""`python -m fissure_sweep`: reads what to sweep as JSON from standard input, writes one JSON object per line."""

import importlib
import json
import os
import sys
import time
import warnings


def main():
    settings = json.loads(sys.stdin.read())
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    warnings.simplefilter("ignore")
    # What the library prints must not end up between the lines of the report.
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(**fields):
        told.write(json.dumps(fields) + "\n")
        told.flush()

    try:
        from fissure_sweep.backends import BACKENDS

        backend = BACKENDS[settings["library"]]()
    except ImportError as error:
        tell(event="failed", message="%s: the sweep needs the library and NumPy" % error)
        return
    tell(event="began", version=str(getattr(backend.library, "__version__", "?")))
    if settings.get("only_version"):
        tell(event="ended")
        return
    from fissure_worker import functions

    table = functions.Table(settings["table"])
    share, shares = settings.get("share", [0, 1])
    for at, path in enumerate(settings["functions"] or offered(table, backend)):
        if at % shares != share:
            continue
        for dtype in settings["dtypes"] or backend.dtypes:
            if [path, dtype] in settings["done"]:
                continue
            tell(event="begins", function=path, dtype=dtype, at=at)
            if settings.get("parts"):
                every(backend, table, path, settings["parts"], tell)
                continue
            one(backend, table, path, dtype, settings, tell)
    tell(event="ended")


def offered(table, backend):
    """Every function of the table that acts on each element of one tensor or two, by its first name that is there."""
    found = []
    for function in table.functions:
        names = function.row.get(backend.name, ())
        if function.elementwise in (1, 2):
            found += [name for name in names if resolve(name) is not None][:1]
    return found


def resolve(path):
    module, _, name = path.rpartition(".")
    try:
        found = importlib.import_module(module)
    except ImportError:
        outer, _, inner = module.rpartition(".")
        try:
            found = getattr(importlib.import_module(outer), inner, None)
        except (ImportError, ValueError):
            return None
    return getattr(found, name, None)


def every(backend, table, path, parts, tell):
    """Parts of all numbers of float32."""
    from fissure_sweep import exhaustive

    function = resolve(path)
    if function is None:
        tell(event="skipped", function=path, dtype="float32", reason="there is no such function")
        return
    row = table.find(path, function)
    try:
        for number in parts:
            begin = time.perf_counter()
            found = exhaustive.part(backend, function, path, row, number)
            tell(event="part", number=number, seconds=time.perf_counter() - begin, **found)
    except Exception as error:
        tell(
            event="skipped",
            function=path,
            dtype="float32",
            reason="%s: %s" % (type(error).__name__, str(error)[:200]),
        )


def one(backend, table, path, dtype, settings, tell):
    from fissure_sweep import further, grid, precise, profile, values

    function = resolve(path)
    if function is None:
        tell(event="skipped", function=path, dtype=dtype, reason="there is no such function")
        return
    begin = time.perf_counter()
    row = table.find(path, function)
    arity = row.elementwise if row is not None and row.elementwise else settings.get("tensors", 1)
    try:
        if arity == 2 or dtype not in values.FORMATS:
            swept = grid.swept(backend, function, path, dtype, arity, row)
        else:
            bits = values.patterns(dtype, settings["count"])
            sweep = None
            if dtype == "float64" and backend.name != "numpy":
                sweep = precise.of(backend, function, path, bits, row)
            if sweep is None:
                sweep = profile.Sweep(backend, function, path, dtype, bits, row)
            swept = None
            if sweep.y.shape == sweep.x.shape:
                facts, findings = profile.profile(sweep)
                swept = facts, further.findings(sweep, findings)
        if swept is None:
            tell(
                event="skipped",
                function=path,
                dtype=dtype,
                reason="it does not act on each element by itself",
            )
            return
        facts, findings = swept
    except Exception as error:
        # The library has no kernel of this type, or the function takes other arguments: it says so.
        tell(
            event="skipped",
            function=path,
            dtype=dtype,
            reason="%s: %s" % (type(error).__name__, str(error)[:200]),
        )
        return
    seconds = time.perf_counter() - begin
    tell(event="swept", function=path, dtype=dtype, seconds=seconds, findings=findings, **facts)


if __name__ == "__main__":
    main()
