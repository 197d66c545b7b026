# The commands as packages have them, which use the shared library (make SHARED=1): they work, and the library and dtrace
# together are smaller than 2 MB without symbols.
# needs: make gcc readelf
. "$SRC/test/lib.bash"
! sanitized || skip "instrumented code is larger"

# the objects are there: only the commands are linked again
mkdir "$TMP/b"
cp -a "$BUILD/src" "$BUILD/cmd" "$BUILD/libdtrace.so.1" "$TMP/b/"
find "$TMP/b" -exec touch -r "$TMP/b" {} +
(cd "$SRC" && make -s BUILD="$TMP/b" SHARED=1 -o "$TMP/b/libdtrace.so.1" $(find "$TMP/b" -name '*.o' -printf '-o %p ') \
	"$TMP/b/dtrace" "$TMP/b/dwatch" "$TMP/b/dtraced") 2>&1
export LD_LIBRARY_PATH=$TMP/b
expect "hello" "$("$TMP/b/dtrace" -qn 'BEGIN { printf("hello"); exit(0); }' 2>&1)"
for c in dtrace dwatch dtraced; do
	expect 1 "$(readelf -d "$TMP/b/$c" | grep -c 'NEEDED.*\[libdtrace\.so\.1\]')" "$c"
	expect "" "$(readelf -d "$TMP/b/$c" | grep -E 'RPATH|RUNPATH')" "$c: where the library is, is up to the system"
done
strip "$TMP/b/dtrace" "$TMP/b/libdtrace.so.1"
size=$(stat -c %s "$TMP/b/dtrace" "$TMP/b/libdtrace.so.1" | awk '{ s += $1 } END { print s }')
[ "$size" -lt 2000000 ] || { echo "$size bytes together"; count_failure; }
