# Every script of the tests that compiles: the same DIF after DOF, and again.
# timeout: 300
# needs: gcc
. "$SRC/test/lib.bash"
san=
nm -D "$BUILD/libdtrace.so" | grep -q __asan_init && san=-fsanitize=address,undefined
gcc $san -Wall -Wextra -Werror -I "$SRC/include" -o "$TMP/roundtrip" files/roundtrip.c -L"$BUILD" -ldtrace -Wl,-rpath,"$BUILD" || exit 1
find "$SRC/test" -name '*.d' | grep -vE '/(lib|include|files)/' | sort | xargs "$TMP/roundtrip" >"$TMP/result" || fails=1
[ $fails = 0 ] || cat "$TMP/result"
same=$(sed -nE 's/^([0-9]+) the same.*/\1/p' "$TMP/result")
[ "${same:-0}" -gt 200 ] || { echo "only ${same:-0} scripts"; fails=1; }
