#!/bin/sh
# Makes the checkout's virtual environment: environment.sh PYTHON VENV
set -eu
python=$1 venv=$2
here=$(dirname "$0")

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"

# A torch that the given Python already has is used instead of a second one.
theirs=$("$python" - <<'END'
from importlib.util import find_spec
from pathlib import Path

torch = find_spec("torch")
print(Path(torch.submodule_search_locations[0]).parent if torch else "")
END
)
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
torch=
if [ -n "$theirs" ] && [ "$theirs" != "$site" ]; then
  printf '%s\n' "$theirs" > "$site/users_own_packages.pth"
elif ! "$venv/bin/python" -c 'from importlib.util import find_spec; raise SystemExit(find_spec("torch") is None)'; then
  torch=torch==2.13.0
fi
# Bytecode of the few modules that are imported is written then; of all it takes a minute.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
  $torch -r "$here/requirements.txt"
