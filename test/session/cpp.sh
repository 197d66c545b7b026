# -C: the C preprocessor over scripts.
# needs: cpp
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
mkdir inc sub
echo '#define FROM_HEADER 5' >inc/h.h
echo '#define BESIDE 6' >sub/beside.h
cat >sub/a.d <<'D'
#!/usr/sbin/dtrace -Cs
#include <h.h>
#include "beside.h"
#if !defined(__linux) || !defined(__unix) || __SUNW_D != 1 || !defined(__SUNW_D_64) || __SUNW_D_VERSION != 0x0100e000
#error identity
#endif
#ifdef GONE
#error gone
#endif
#pragma D option quiet
BEGIN
{
	printf("%d %d %d %d\n", FROM_HEADER, BESIDE, VALUE, __STDC__ + 0);
	exit(0);
}
D
dt -C -I inc -D VALUE=7 -D GONE -U GONE -s sub/a.d
expect "" "$err"
expect "5 6 7 0" "$(echo $out)"
dt -C -X c -I inc -DVALUE=7 -s sub/a.d
expect "5 6 7 1" "$(echo $out)"
dt -C -H -I inc -DVALUE=7 -s sub/a.d
expect_match '^\. inc/h\.h$' "$err"
# places are those of the script and of its headers
printf '#define X\n\nBEGIN\n{\n\ttrace(nosuch);\n}\n' >b.d
dt -C -s b.d
expect_match '^dtrace: failed to compile script b.d: "b.d", line 5: ' "$err"
# without -C, and for -n, nothing is preprocessed
dt -n '#define X 1
BEGIN { exit(0); }'
expect 1 "$status"
dt -C -s /dev/null -x empty
dt -C -x cpppath=/nosuch/cpp -s b.d
expect_match 'failed to compile script b.d: C preprocessor "/nosuch/cpp" not found' "$err"
echo '#include "nosuch.h"' >c.d
dt -C -s c.d
expect_match 'failed to compile script c.d: C preprocessor "cpp" returned errors$' "$err"
