#!/usr/bin/env bash
# Makes an interpreter for the functions of one library in functions.txt:
#
#     install.sh FOLDER LIBRARY PYTHON_WITH_THE_LIBRARY
#
# The packages come from PyPI into the venv FOLDER/LIBRARY, which sees the library of the given interpreter.
set -euo pipefail
folder=$1/$2
python=$3
"$python" -m venv --without-pip "$folder"
site=$("$folder/bin/python" -c 'import site; print(site.getsitepackages()[0])')
"$python" -c 'import site; print(site.getsitepackages()[0])' > "$site/library-environment.pth"
packages=$(sed -n "s/^# $2: //p" "$(dirname "$0")/functions.txt")
# shellcheck disable=SC2086
uv pip install --python "$folder/bin/python" --no-deps $packages
