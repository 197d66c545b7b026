# timeout: 300
# needs: root nobody bpf gcc
# Files with many static probes, mapped by one process: they are listed in time that grows with their number.
. ./lib.bash
N=10000 FILES=16
for ((i = 0; i < FILES; i++)); do make_file notes "n$i.so" $N; done
start maps "$THEIRS"/n*.so
trace -ln 'hostile$1:::' "$pid"
cheap listing
expect $((N * FILES)) "$(awk '$2 ~ /^hostile/' "$TMP/out" | wc -l)" "probes"
expect $((N * FILES)) "$(awk '$2 ~ /^hostile/ { print $1 }' "$TMP/out" | sort -u | wc -l)" "ids"
expect 16 "$(awk '$5 == "p0000007"' "$TMP/out" | wc -l)" "of one name"
