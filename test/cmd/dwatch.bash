# What the tests of dwatch share, after test/lib.bash. They run in $TMP, where out and err are.
#
#   begin ARGS     dwatch in the background; from here on it sees everything
#   finish         wait until it ends by itself; status, out, err
DWATCH=$BUILD/dwatch
export NO_COLOR=1
cd "$TMP" || exit 1

begin() {
	: >err
	: >out # discard earlier output
	timeout 100 "$DWATCH" "$@" >out 2>err </dev/null &
	watcher=$!
	wait_for 60 begun
}
begun() { grep -q '^INFO Watching' err || ! kill -0 $watcher 2>/dev/null; }
finish() { wait $watcher; status=$?; out=$(cat out) err=$(cat err); }
