# All tools that watch the whole system run at once under a load: what is lost is reported, nothing is left in the kernel.
# timeout: 300
# needs: root bpf btf gcc python3
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
mkdir "$TMP/dir"
export SRC DTRACE
out=$(python3 "$SRC/test/tools/shelf.py" "$TMP/$name" "$TMP/dir" "$(scale 40)" 2>&1)
expect_match '^[0-9]+ tools$' "$out"
expect "" "$(grep -vE '^[0-9]+ tools$' <<<"$out")"
