# needs: root nobody bpf gcc
# pid probes in a process that may not be inspected, or in a file that may not be read, are refused for that reason.
. ./lib.bash
make_file plain mine.so my_function
start maps "$THEIRS/mine.so"
chown root "$THEIRS/mine.so"
chmod 600 "$THEIRS/mine.so"
said() { theirs "$DTRACE" -ln "$1" 2>&1 >/dev/null; }
expect "dtrace: failed to match pid$pid:mine.so:my_function:entry: $THEIRS/mine.so: Permission denied" "$(said "pid$pid:mine.so:my_function:entry")"
chmod 644 "$THEIRS/mine.so"
expect "" "$(said "pid$pid:mine.so:my_function:entry")"
"$TMP/hostile" maps "$THEIRS/mine.so" >/dev/null & # root's
pids+=($!)
wait_for 20 grep -q mine.so /proc/$!/maps
expect "dtrace: failed to match pid$!:mine.so:my_function:entry: Operation not permitted" "$(said "pid$!:mine.so:my_function:entry")"
