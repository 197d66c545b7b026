# -x stackframes, ustackframes, jstackframes, jstackstrsize, immstackframes, immstackstrsize: the size of a stack's record. A clause that a
# buffer cannot hold does not run.
. "$SRC/test/lib.bash"
fits() { dt -q -x bufsize=$2 $3 -n "BEGIN { $1; exit(0); }"; expect "0 " "$status $err" "$*"; }
too_small() {
	dt -q -x bufsize=$2 $3 -n "BEGIN { $1; } BEGIN { exit(0); }"
	expect_match "^dtrace: 1 drop on CPU [0-9]+$" "$err" "$*"
}
fits 'stack()' 200 '' # 20 frames of 8 bytes, and a header
too_small 'stack()' 160 ''
too_small 'stack()' 200 '-x stackframes=30'
fits 'stack(5)' 64 ''
fits 'ustack()' 208 ''
too_small 'ustack()' 208 '-x ustackframes=30'
too_small 'jstack()' 600 '' # 50 frames and 512 bytes of names
fits 'jstack()' 1024 ''
fits 'jstack()' 200 '-x jstackframes=10 -x jstackstrsize=64'
too_small 'jstack(10)' 600 '-x jstackstrsize=1k'
fits 'jstack(10, 64)' 200 ''
fits 'immstack()' 1312 '' # 20 frames of 64 bytes
too_small 'immstack()' 1280 ''
fits 'immstack()' 200 '-x immstackframes=5 -x immstackstrsize=32'
fits 'immstack(5, 30)' 200 ''
