#!/usr/bin/env bash
# Makes an interpreter with the packages of functions.txt: install.sh FOLDER PYTHON_WITH_TORCH
# The packages come from PyPI into a venv that sees the torch of the given interpreter.
set -euo pipefail
folder=$1
python=$2
"$python" -m venv --without-pip "$folder"
site=$("$folder/bin/python" -c 'import site; print(site.getsitepackages()[0])')
"$python" -c 'import site; print(site.getsitepackages()[0])' > "$site/torch-environment.pth"
packages=$(sed -n 's/^# torch: //p' "$(dirname "$0")/functions.txt")
# shellcheck disable=SC2086
uv pip install --python "$folder/bin/python" --no-deps $packages
