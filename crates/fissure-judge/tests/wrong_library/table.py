"""The twins of the table of functions: every name is there, and every argument is given.

`python table.py ROOT`; prints the number of functions that PyTorch and NumPy share, or what is wrong.
"""

import ast
import json

from harness import module

from fissure_worker import functions
from fissure_worker.build import resolve

equivalents = module("equivalents")
rows = functions.table().twins
problems = []


def calls(expression):
    """Dotted names of all functions that an expression calls."""
    for node in ast.walk(ast.parse(expression)):
        if isinstance(node, ast.Call):
            yield equivalents.dotted(node.func)


for row in rows:
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
