# make dist: the tar file has every file of the last commit, and all that make needs.
# needs: make
. "$SRC/test/lib.bash"
cd "$SRC" || exit 1
git rev-parse HEAD >/dev/null 2>&1 && [ -e "$SRC/.git" ] || skip "not a git checkout"
make -s dist BUILD="$TMP/dist" >/dev/null 2>"$TMP/err" || { cat "$TMP/err"; exit 1; }
mkdir "$TMP/tree"
tar -C "$TMP/tree" -xf "$TMP"/dist/dtrace-*.tar.gz
expect 1 "$(find "$TMP/tree" -mindepth 1 -maxdepth 1 -name 'dtrace-[0-9]*' | wc -l)" "one folder"
cd "$TMP"/tree/dtrace-* || exit 1
expect "$(git -C "$SRC" ls-tree -r --name-only HEAD | sort)" "$(find . -type f -o -type l | sed 's,^\./,,' | sort)" "files"
make -n all BUILD="$TMP/build" >"$TMP/steps" 2>"$TMP/err"
expect "0 " "$? $(cat "$TMP/err")" "make -n"
grep -q 'src/session/run' "$TMP/steps" || { echo "it would not build the library"; count_failure; }

# the symbols file of the Debian package knows every version that the library has
for v in $(sed -nE 's/^(LIBDTRACE_[0-9.]+).*/\1/p' "$SRC/src/libdtrace.map"); do
	grep -qF " (symver)$v " "$SRC/debian/libdtrace1.symbols" || { echo "debian/libdtrace1.symbols lacks $v"; count_failure; }
done
