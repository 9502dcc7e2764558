#!/bin/bash
# Draws what hosts do in the first rounds of PageRank with the engine spmv, with and without overlap, on four
# ranks over links of 1 Gbit/s: docs/spmv-overlap-on.svg and docs/spmv-overlap-off.svg.
#
#   bench/timeline.sh PARTON [GRAPH]          bench/timeline.sh target/release/parton rmat:18
#
# Needs what links.sh needs.
set -e
parton=$(realpath "$1") graph=${2:-rmat:18}
cd "$(dirname "$0")/.."
page=$(mktemp --suffix .html)
trap 'rm -f "$page"' EXIT
for overlap in on off; do
    bench/links.sh 4 1gbit "$parton" run pagerank "$graph" --directed --threads 1 --policy cvc \
        --engine spmv --overlap $overlap --max-rounds 20 --report "$page"
    sed -n '/<figure class="timeline">/,/<\/svg>/p' "$page" | grep -v '<figure' |
        sed 's|<svg |<svg xmlns="http://www.w3.org/2000/svg" |' > docs/spmv-overlap-$overlap.svg
done
