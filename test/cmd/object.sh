# -G: an object for build systems that link it; the program is inside as DOF.
# needs: gcc
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'provider p { probe f(int); };' >p.d
dt -G -s p.d a.o b.o
expect 0 "$status"
expect_match '^dtrace: -G is not needed' "$err"
readelf -SW p.o | grep -q SUNW_dof || { echo "no DOF section"; fails=1; }
echo 'int main(void) { return 0; }' >m.c
gcc -Wl,--fatal-warnings -o m m.c p.o && ./m || fails=1
dt -G -x linktype=dof -o x.dof -n 'BEGIN { exit(0); }'
expect "$(printf '\177DOF')" "$(head -c 4 x.dof)"
