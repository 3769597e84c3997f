#!/bin/sh
# Makes the component: build.sh <the folder with wit/> <file to write>; `componentize-py` is on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec componentize-py -d "$1" -w guest componentize --stub-wasi -p "$here" -o "$2" app
