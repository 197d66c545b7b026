# timeout: 240
# Types of user programs from DWARF of every version and from CTF: sizes and offsets are what the compiler says they are.
# needs: gcc
# uses: clang dwz
. "$SRC/test/lib.bash"

# A D program that asks for everything that `types layout` prints, in the same words.
questions() {
	echo 'BEGIN {'
	while read -r line; do
		member=${line% *} member=${member##* } type=${line% * *}
		ask="offsetof(pid\$target\`a.out\`$type, $member)"
		[ "$member" = . ] && ask="sizeof (pid\$target\`a.out\`$type)"
		echo "	printf(\"$type $member %d\\n\", $ask);"
	done
	echo '	exit(0); }'
}

# layout WHAT COMPILER FLAGS...: build types.c so; compare
layout() {
	local what=$1
	shift
	"$@" -o "$TMP/types" "$SRC/test/processes/types.c" 2>"$TMP/why" || { echo "not checked, $what: $(head -n 1 "$TMP/why")"; return; }
	"$TMP/types" layout >"$TMP/layout"
	questions <"$TMP/layout" >"$TMP/layout.d"
	dt -q -c "$TMP/types" -s "$TMP/layout.d"
	expect "$(cat "$TMP/layout")" "$(said)" "$what"
}

cd "$TMP" || exit 1
layout "DWARF" gcc -g
layout "DWARF 4, optimised" gcc -O2 -gdwarf-4
layout "DWARF 3" gcc -gdwarf-3 -gstrict-dwarf
layout "DWARF 2" gcc -gdwarf-2 -gstrict-dwarf
layout "type units" gcc -gdwarf-5 -fdebug-types-section
layout "type units of DWARF 4" gcc -gdwarf-4 -fdebug-types-section
layout "split DWARF" gcc -gdwarf-5 -gsplit-dwarf
layout "compressed" gcc -g -gz=zlib
layout "clang" clang -g
layout "CTF" gcc -gctf
layout "CTF beside DWARF" gcc -g -gctf
layout "static" gcc -g -static

# A separate debug file, found by its link beside the program and by build id in debugdir.
gcc -g -Wl,--build-id -o types "$SRC/test/processes/types.c" && ./types layout >layout && questions <layout >layout.d
objcopy --only-keep-debug types types.debug && strip types && objcopy --add-gnu-debuglink=types.debug types || fails=1
dt -q -c ./types -s layout.d
expect "$(cat layout)" "$(said)" "debug link"
id=$(readelf -n types | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}" && mv types.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
dt -q -c ./types -s layout.d
expect 1 "$status" "no debug file"
expect_match 'there is no enum color: types has no type data: build it with -g \(DWARF\) or -gctf, or install its debug file' "$err"
dt -q -x debugdir="$TMP/debug" -c ./types -s layout.d
expect "$(cat layout)" "$(said)" "build id"

# dwz moves what two programs share to a file of its own.
if command -v dwz >/dev/null; then
	gcc -gdwarf-4 -o types "$SRC/test/processes/types.c" && cp types types2 && dwz -m "$TMP/shared" types types2 && {
		dt -q -c ./types -s layout.d
		expect "$(cat layout)" "$(said)" "dwz"
	}
fi

# ---- names ----
gcc -g -o types "$SRC/test/processes/types.c"
# ask EXPRESSION: its value, on the program above
ask() { dt -q -c ./types -n 'BEGIN { printf("%d", '"$1"'); exit(0); }'; }
ask 'sizeof (pid$target`struct foo)' # any object
expect "$(sed -n 's/^struct foo \. //p' layout)" "$(said)"
ask 'sizeof (pid$target`types`struct foo *) + sizeof (struct pid$target`a.out`inner) + sizeof (pid$target`LM0`a.out`foo_t[2]) * 0'
expect 24 "$(said)"
ask '(pid$target`a.out`enum color)5 == green ? 1 : 0'
expect 1 "$(said)"
dt -q -c ./types -n 'pid$target`a.out`struct foo *global; pid$target`a.out`foo_t whole; self pid$target`a.out`enum color mine;
	inline int s = sizeof (pid$target`a.out`struct inner);
	struct holder { pid$target`a.out`struct inner i; int after; };
	BEGIN { printf("%d %d %d %d", sizeof (*global), sizeof (whole), s, offsetof(struct holder, after)); exit(0); }'
size=$(sed -n 's/^struct foo \. //p' layout)
expect "$size $size 16 16" "$(said)" declarations

# A process that runs, by its number and as $target.
./types wait &
pid=$!
wait_for 20 grep -q /types$ "/proc/$pid/maps"
dt -qn 'BEGIN { printf("%d", sizeof (pid'$pid'`a.out`struct foo)); exit(0); }'
expect "$size" "$(said)" "by number"
dt -q -p $pid -n 'BEGIN { printf("%d", sizeof (pid$target`types`struct foo)); exit(0); }'
expect "$size" "$(said)" "-p"
expect "" "$(every $pid TracerPid | tr -d 0)" "held"
kill $pid
wait $pid 2>/dev/null

# refuse TAG MESSAGE D [ARGS]
refuse() {
	dt -x errtags -q "${@:4}" -n "BEGIN { trace($3); exit(0); }"
	expect 1 "$status" "$3"
	expect_match "\\[$1\\] .*$2" "$err"
}
on=(-c ./types)
refuse D_DECL_IDENT 'there is no struct fooo in types; did you mean "struct foo"\?' 'sizeof (pid$target`a.out`struct fooo)' "${on[@]}"
refuse D_DECL_IDENT 'there is no type foo in types; did you mean "struct foo"\?' '(pid$target`a.out`foo *)0' "${on[@]}"
refuse D_DECL_IDENT 'there is no union foo in types; did you mean "struct foo"\?' 'sizeof (pid$target`union foo)' "${on[@]}"
refuse D_DECL_IDENT 'there is no enum colour in types; did you mean "enum color"\?' 'sizeof (pid$target`a.out`enum colour)' "${on[@]}"
refuse D_PROC_LIB 'process [0-9]+ has no object libnone.so' 'sizeof (pid$target`libnone.so`struct foo)' "${on[@]}"
refuse D_PROC_BADPID 'there is no target process: use -c or -p' 'sizeof (pid$target`a.out`struct foo)'
refuse D_PROC_BADPID 'pid99999999999 is not a process' 'sizeof (pid99999999999`a.out`struct foo)'
refuse D_PROC_GRAB 'no process 4194999' 'sizeof (pid4194999`a.out`struct foo)'
refuse D_MACRO_UNDEF 'targets is not defined; did you mean \$target\?' 'sizeof (pid$targets`a.out`struct foo)' "${on[@]}"
refuse D_UNKNOWN 'nam is not a member of struct foo; did you mean "name"\?' 'offsetof(pid$target`a.out`struct foo, nam)' "${on[@]}"
refuse D_OP_INCOMPLETE 'struct declared_only' '((pid$target`a.out`struct foo *)0)->opaque->x' "${on[@]}"
refuse D_IDENT_UNDEF 'there is no symbol nothing_such in pid[0-9]+`a.out' 'pid$target`a.out`nothing_such' "${on[@]}"
refuse D_OFFSETOF_BITFIELD 'bit-field' 'offsetof(pid$target`a.out`struct bits, b)' "${on[@]}"

# Damaged type data (test/unit/test_user.c does more of that): an error, and the program still runs.
printf 'this is neither DWARF nor CTF, but plain text' >noise
for section in .debug_info .debug_abbrev; do
	gcc -g -o types "$SRC/test/processes/types.c" && objcopy --update-section $section=noise types
	dt -x errtags -q -c ./types -n 'BEGIN { trace(sizeof (pid$target`a.out`struct foo)); exit(0); }'
	expect 1 "$status" "$section: $out"
	expect_match '\[D_(TYPE_ERR|DECL_IDENT)\] .*there is no struct foo' "$err"
done
if gcc -gctf -o types "$SRC/test/processes/types.c" 2>/dev/null; then
	objcopy --update-section .ctf=noise types
	refuse D_TYPE_ERR 'there is no struct foo: the CTF of types is damaged: it is ' 'sizeof (pid$target`a.out`struct foo)' "${on[@]}"
fi
