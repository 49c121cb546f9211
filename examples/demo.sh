#!/bin/sh
# The first five minutes on the command line: train, look, write vectors and covectors for other programs.
#
#     sh examples/demo.sh [FOLDER]
#
# The text is a piece of Wikipedia that comes with Gensim, so no network is needed.
set -eu
folder=${1:-demo}
here=$(dirname "$0")
say() { printf '\n$ %s\n' "$*"; "$@"; }

mkdir -p "$folder"
test -s "$folder/wiki.txt" || say python "$here/wikipedia_to_text.py" "$folder/wiki.txt"
say gensim-hilbert train "$folder/wiki.txt" -o "$folder/wiki" --overwrite --vector-size 50 --max-final-vocab 2000
say gensim-hilbert neighbors "$folder/wiki" son army university --topn 5
say gensim-hilbert export "$folder/wiki" -o "$folder/vectors.vec"
say gensim-hilbert export "$folder/wiki" -o "$folder/covectors.vec" --what covectors
