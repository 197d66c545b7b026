# -x maxframes: no stack has more frames, whatever the call or another option asks for.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build deep processes/deep.c -O0 -fno-optimize-sibling-calls
frames() { # options; which stack: how many frames are printed
	ktrace -q $1 -n "syscall::getppid:entry /pid == \$target && n++ == 0/ { $2; }" -c "$TMP/deep 40"
	grep -c '^ ' "$TMP/out"
}
expect 5 "$(frames "-x maxframes=5" "ustack(30)")" "the call"
expect 5 "$(frames "-x maxframes=5 -x ustackframes=30" "ustack()")" "the option"
expect 5 "$(frames "-x maxframes=5" "jstack(30)")" "jstack()"
expect 3 "$(frames "-x maxframes=5" "ustack(3)")" "less than it"
expect 30 "$(frames "" "ustack(30)")" "not set"
[ "$(frames "-x maxframes=2" "stack(30)")" -le 2 ] || { echo "stack(): $out"; count_failure; }
ktrace -q -x maxframes=7 -n 'syscall::getppid:entry /pid == $target && n++ == 0/ { printf("%d\n", ustackdepth); }' -c "$TMP/deep 40"
expect 7 "$(grep . "$TMP/out")" "ustackdepth: $err"
# the record is as small
dt -q -x maxframes=5 -x bufsize=64 -n 'BEGIN { stack(100); exit(0); }'
expect "0 " "$status $err"
