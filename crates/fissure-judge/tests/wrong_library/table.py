"""The table of equivalent functions: read as TOML has it, and every name is there.

`python table.py ROOT`; prints the number of functions that PyTorch and NumPy share, or what is wrong.
"""

import ast
import json

from harness import module

from fissure_worker.build import resolve

equivalents = module("equivalents")
rows = equivalents.parse(equivalents.text())
problems = []
try:
    import tomllib
except ImportError:
    # Before Python 3.11 nothing in the standard library reads TOML.
    pass
else:
    if tomllib.loads(equivalents.text())["equivalent"] != rows:
        problems.append("our reader and the library's disagree")


def calls(expression):
    """Dotted names of all functions that an expression calls."""
    for node in ast.walk(ast.parse(expression)):
        if isinstance(node, ast.Call):
            yield equivalents.dotted(node.func)


KEYS = "torch numpy tensorflow jax differences dtypes moderate nonempty dimensions same_dtype rtol wide"
for row in rows:
    for key in sorted(set(row) - set(KEYS.split())):
        problems.append("%s: unknown key %s" % (row["torch"], key))
    for library in ("torch", "numpy"):
        for name in calls(row[library]):
            try:
                "." in name and resolve(name)
            except AttributeError as error:
                problems.append(str(error))
    form = equivalents.Form(row["torch"])
    names = set(form.required) | set(form.defaults)
    for node in ast.walk(ast.parse(row["numpy"])):
        if isinstance(node, ast.Name) and node.id not in names | {"numpy", "tuple"}:
            problems.append("%s: nothing gives %s" % (row["numpy"], node.id))
both = {equivalents.Form(row["torch"]).path for row in rows if "numpy" in row}
print(json.dumps({"count": len(both), "problems": problems}))
