#!/bin/sh
# Makes a virtual environment with what running needs, or adds extras to it.
# In: the folder to make, and the extras to install beside (`dev`: everything that testing and checking needs, the lab too). Uses uv where it is installed, otherwise python3 -m venv and pip; both with the pinned
# versions of constraints.txt, because pip alone searches for minutes and gives up on the unpinned set.
set -eu

venv=${1:-.venv}
extras=${2:-}
package=.${extras:+[$extras]}
lab=
[ "$extras" = dev ] && lab="--editable ./lab"
wanted='import sys; sys.exit(sys.version_info < (3, 11))'

say() { printf '%s\n' "$*" >&2; }

# A name on the PATH is not enough: version managers put commands there that only say that nothing is installed.
find_python() {
    for name in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
        if [ -n "$name" ] && "$name" -c "$wanted" >/dev/null 2>&1; then
            printf '%s\n' "$name"
            return
        fi
    done
    if command -v uv >/dev/null 2>&1; then
        uv python find --no-python-downloads '>=3.11' 2>/dev/null || true
    fi
}

python=$(find_python)
if [ -z "$python" ]; then
    say "text2sql needs Python 3.11 or newer, and none was found (python3 here: $(python3 --version 2>/dev/null || echo none))."
    say "Install one, or name it: make setup PYTHON=/path/to/python3.12"
    exit 1
fi

say "Setting up $venv${extras:+ ($extras)} with $("$python" --version 2>&1); this takes a minute the first time."
if command -v uv >/dev/null 2>&1; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --clear --python "$python" "$venv"
    uv pip install --quiet --python "$venv/bin/python" --constraint constraints.txt --editable "$package" $lab
else
    if ! [ -x "$venv/bin/python" ] && ! "$python" -m venv --clear "$venv"; then
        say "Python's venv module does not work here. On Debian and Ubuntu: apt-get install python3-venv"
        exit 1
    fi
    # compiled below, as far as it is used: most never is
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
        --constraint constraints.txt --editable "$package" $lab
fi

# A first question proves that all is there, and compiles what answering takes: where PYTHONDONTWRITEBYTECODE is set,
# each start would do it again.
PYTHONDONTWRITEBYTECODE=
export PYTHONDONTWRITEBYTECODE
"$venv/bin/python" -m compileall -q agent eval prompts text2sql &&
    "$venv/bin/python" -c "import agent.server.app" &&
    "$venv/bin/python" -m agent.main --db shop --model offline "How many customers are there?" >/dev/null 2>&1 ||
    say "A first question could not be answered. Try: $venv/bin/python -m agent.main \"How many customers are there?\""
