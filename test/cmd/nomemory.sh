# Whichever allocation is the first to fail, dtrace says that memory ran out.
# needs: gcc
. "$SRC/test/lib.bash"
! sanitized || skip "the sanitizer's allocator is not the C library's"
build fail.so torture/fail.c -shared -fPIC
attempt() { env LD_PRELOAD="$TMP/fail.so" FAIL_WHAT=memory FAIL_LOG="$TMP/log" "$@" "$DTRACE" -e -x engine=vm -c "true a b" -n 'BEGIN { x["a"] = 1; }' >"$TMP/out" 2>"$TMP/err"; }
attempt
expect 0 "$?" "with memory"
n=$(sed -n 's/^memory //p' "$TMP/log")
[ "${n:-0}" -gt 50 ] || expect "many allocations" "$n"
for at in $(seq "${n:-0}"); do
	attempt FAIL_AT="$at" FAIL_ON=1
	status=$?
	[ "$status" = 0 ] || expect "1 dtrace: out of memory" "$status $(head -n 1 "$TMP/err")" "allocation $at of $n"
done
