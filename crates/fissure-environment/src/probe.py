# Answers what an interpreter is and whether it has a library, without importing the library where
# its metadata tells the version (an import of torch takes seconds, this milliseconds).
# Runs on any Python, even one that is too old for Fissure, so that the refusal can name its version.
# arguments: the import name of the library, then the names it has on the package index
import json
import os
import re
import sys

package, distributions = sys.argv[1], sys.argv[2:]
# The current folder may hold a folder named like the library; it counts where PYTHONPATH names it.
here = os.getcwd()
named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
sys.path[:] = [entry for entry in sys.path if entry != "" and (entry != here or here in named)]
answer = {
    "executable": sys.executable,
    "python_version": ".".join(str(part) for part in sys.version_info[:3]),
    "library_found": False,
    "library_version": None,
    "import_error": None,
    "has_venv": False,
    "has_pip": False,
}


def has(name):
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    # Without an origin it is a namespace: a folder that an uninstalled library left behind.
    return spec is not None and spec.origin is not None


def version_from_metadata():
    wanted = [re.sub("[-_.]+", "-", name).lower() for name in distributions]
    for folder in sys.path:
        try:
            entries = sorted(os.listdir(folder))
        except OSError:
            continue
        for entry in entries:
            match = re.match(r"(.+?)-([^-]+)(-py[^-]+)?\.(dist|egg)-info$", entry)
            if match and re.sub("[-_.]+", "-", match.group(1)).lower() in wanted:
                return match.group(2)
    return None


if sys.version_info >= (3, 4):
    answer["has_venv"] = has("venv") and has("ensurepip")
    answer["has_pip"] = has("pip")
    answer["library_found"] = has(package)
    if answer["library_found"]:
        answer["library_version"] = version_from_metadata()
        if answer["library_version"] is None:
            try:
                version = getattr(__import__(package), "__version__", None)
                answer["library_version"] = None if version is None else str(version)
            except Exception as error:
                answer["import_error"] = "%s: %s" % (type(error).__name__, error)

# On a line of its own with a mark, since start-up files of the interpreter may print too.
sys.stdout.write("\nfissure-probe " + json.dumps(answer) + "\n")
