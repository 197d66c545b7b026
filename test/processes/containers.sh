# timeout: 300
# Processes whose files are not visible here: another mount namespace, another root, another pid namespace.
# They may have ended; their namespaces must have existed when they were read.
# needs: root bpf mountns gcc
. "$SRC/test/lib.bash"
build addresses processes/addresses.c -static -DSTATIC
mkdir "$TMP/inside" "$TMP/root" "$TMP/root/tmp"
own='addresses`global_function addresses`static_function addresses`global_data addresses`static_data'

# inside COMMAND LINES: trace a shell that runs in there, until it has printed so many lines; then let it end.
inside() {
	mkfifo "$TMP/hold"
	: >"$TMP/out" # discard earlier output
	timeout 500 "$DTRACE" -q -x switchrate=20ms -c "$1" -n 'syscall::getppid:entry /progenyof($target) && execname == "addresses"/ { usym(arg0); printf("\n"); }' \
		>"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	exec 7>"$TMP/hold"
	wait_for 30 eval "[ \$(wc -l <'$TMP/out') -ge $2 ]"
	exec 7>&-
	wait $tracer
	rm "$TMP/hold"
}

# The program is on a file system that exists only in there, at a path that is an empty directory here.
cat >"$TMP/in-tmpfs" <<EOT
mount -t tmpfs none $TMP/inside || exit 3
cp $TMP/addresses $TMP/inside/
$TMP/inside/addresses own
read x <$TMP/hold
$TMP/inside/addresses own
EOT
inside "unshare -m sh $TMP/in-tmpfs" 4
expect "$own $own" "$(xargs <"$TMP/out")" "mount namespace"

# another root: the program itself must still be there
cp "$TMP/addresses" "$TMP/root/"
mkfifo "$TMP/root/hold"
inside "sh -c 'chroot $TMP/root /addresses own wait 3 3<$TMP/hold'" 4
expect "$own" "$(xargs <"$TMP/out")" chroot

# another number and root: the perf map is named by the number that the process has in there
if unshare -p -f true 2>/dev/null; then
	inside "unshare -p -f sh -c 'chroot $TMP/root /addresses own jit wait 3 3<$TMP/hold'" 7
	expect_match "^$own .jit..compiled function .jit..compiled later 0x" "$(xargs <"$TMP/out")"
fi
