# Several copies at once do not disturb each other; one that is killed leaves nothing behind.
. "$SRC/test/lib.bash"
set -m
cd "$TMP" || exit 1
for i in 1 2 3 4; do
	"$DTRACE" -x engine=vm -qn 'BEGIN { x = '$i'; printf("ready\n"); } END { printf("%d\n", x); }' >"out$i" 2>"err$i" &
	pids[i]=$!
done
for i in 1 2 3 4; do wait_for 20 grep -q ready "out$i"; done
kill -9 "${pids[4]}"
wait "${pids[4]}" 2>/dev/null
expect 137 $?
for i in 1 2 3; do
	kill -INT "${pids[i]}"
	wait "${pids[i]}"
	expect "0 ready $i " "$? $(echo $(cat "out$i")) $(cat "err$i")"
done
dt -qn 'BEGIN { printf("next\n"); exit(0); }'
expect "0 next" "$status $(echo $out)"
# a held command ends with its tracer, and never runs
"$DTRACE" -x engine=vm -c "touch $TMP/never" -e -n 'BEGIN { }'
expect 0 $?
[ ! -e never ] || { echo "the command ran"; fails=1; }
