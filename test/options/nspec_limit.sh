# Speculations beyond the largest id that a record can hold are refused; up to there, ids are not confused.
. "$SRC/test/lib.bash"
dt -x nspec=65536 -qn 'BEGIN { exit(0); }'
expect 'dtrace: failed to set -x nspec=65536: "65536" is out of range for option "nspec"' "$err"
dt -x nspec=65535 -x specsize=1k -qn 'BEGIN { speculation(); y = speculation(); } BEGIN { speculate(y); printf("two\n"); }
	BEGIN { commit(65534); } BEGIN { exit(0); }'
expect "0 " "$status $err$(tr -d '\n' <<<"$out")"
