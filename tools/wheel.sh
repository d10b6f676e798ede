#!/bin/sh
# Builds the wheel, with the built page inside.
# In: the folder to put it in (dist), and the Python to build with (.venv's, else python3). Out: the wheel's path.
set -eu

cd "$(dirname "$0")/.."
folder=${1:-dist}
python=${2:-}
[ -n "$python" ] || { [ -x .venv/bin/python ] && python=.venv/bin/python || python=python3; }

sh tools/page.sh build
# Files of an earlier build would be packed, too.
rm -rf build
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder" . >&2
rm -rf build
ls "$folder"/askwell-*.whl
