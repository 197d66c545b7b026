# timeout: 300
# Names of processes that have ended by the time they are printed: thousands of short ones, forks of forks, programs that ran
# another one, binaries that were deleted or lived in another mount namespace. The buffers are read only at the end.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build addresses processes/addresses.c
n=$(scale 1000)
late='-x switchrate=60s -x aggrate=60s -x bufsize=8m'

# a storm of forks: all addresses have names
trace -q $late -c "$TMP/addresses fork $n" -n 'syscall::getppid:entry /progenyof($target)/ { printf("%d ", pid != $target); usym(arg0); printf("\n"); }'
expect "$n" "$(grep -cE '^1   addresses`global_function +$' "$TMP/out")" forks
expect 0 "$(grep -c 0x "$TMP/out")"

# a storm of programs: each at its own address
cat >"$TMP/storm" <<EOT
i=0
while [ \$i -lt $((n / 5)) ]; do $TMP/addresses own libc; i=\$((i + 1)); done
EOT
trace -q $late -c "sh $TMP/storm" -n 'syscall::getppid:entry /progenyof($target) && execname == "addresses"/ {
	usym(arg0); printf("\n"); @[usym(arg0)] = count(); @u[ustack(1)] = count(); }'
expect "$((n / 5))" "$(grep -cE '^  addresses`static_function +$' "$TMP/out")" programs
expect "$((n / 5))" "$(grep -cE '^  libc.so.6`l64a +$' "$TMP/out")" "their libraries"
expect "$((n / 5))" "$(awk '$1 == "addresses`global_function" && NF == 2 { print $2 }' "$TMP/out")" "one row"
expect 0 "$(grep -cE '^ *0x' "$TMP/out")" "addresses without a name"

# the same process before and after exec
mkdir "$TMP/other"
build other/second processes/addresses.c
trace -q $late -c "$TMP/addresses own exec $TMP/other/second own" -n 'syscall::getppid:entry /pid == $target/ { printf("%A\n", arg0); }'
expect 'addresses`global_function+0x4 addresses`static_function+0x2 addresses`global_data+0x8 addresses`static_data second`global_function+0x4 second`static_function+0x2 second`global_data+0x8 second`static_data' \
	"$(xargs <"$TMP/out" | tr -s ' ')" exec

# and while it still runs the other program, so that /proc has forgotten the first
mkfifo "$TMP/still"
exec 8<>"$TMP/still" # what it waits for at its end does not come before we close this
trace -q $late -c "$TMP/addresses own exec $TMP/other/second own wait 3" -n 'syscall::getppid:entry /pid == $target/ { printf("%A\n", arg0); n++; }
	syscall::getppid:entry /pid == $target && n == 8/ { exit(0); }' 3<"$TMP/still" 8>&-
exec 8>&-
expect 'addresses`global_function+0x4 addresses`static_function+0x2 addresses`global_data+0x8 addresses`static_data second`global_function+0x4 second`static_function+0x2 second`global_data+0x8 second`static_data' \
	"$(xargs <"$TMP/out" | tr -s ' ')" "exec, still running"

# a library that was closed
echo 'int library_function(int n) { return n + 2; }' | gcc -O2 -shared -fPIC -o "$TMP/liblater.so" -xc - || exit 1
libs=
for _ in 1 2 3 4 5 6 7 8; do libs="$libs lib $TMP/liblater.so"; done
trace -q $late -c "$TMP/addresses $libs" -n 'syscall::getppid:entry /pid == $target/ { printf("%A\n", arg0); }'
expect 8 "$(grep -c '^liblater.so`library_function+0x1$' "$TMP/out")" "dlopen and dlclose"

# a file without a name: as long as the process lives
cp "$TMP/addresses" "$TMP/doomed"
mkfifo "$TMP/in" "$TMP/hold"
"$TMP/doomed" wait 0 own wait 3 <"$TMP/in" 3<"$TMP/hold" &
pid=$!
exec 7>"$TMP/in" 8>"$TMP/hold"
wait_for 20 grep -qs doomed "/proc/$pid/maps"
rm "$TMP/doomed"
: >"$TMP/out" # discard earlier output
timeout 500 "$DTRACE" -q -x switchrate=50ms -n 'BEGIN { printf("ready\n"); } syscall::getppid:entry /pid == $1/ { usym(arg0); printf("\n"); n++; }
	syscall::getppid:entry /pid == $1 && n == 4/ { exit(0); }' $pid >"$TMP/out" 2>"$TMP/err" 7>&- 8>&- &
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
exec 7>&-
wait $tracer
expect 'doomed`global_function doomed`static_function doomed`global_data doomed`static_data' "$(sed 1d "$TMP/out" | xargs)" "deleted"
exec 8>&-
wait $pid
