# -v: the stability of a program; with -e also its probes.
. "$SRC/test/lib.bash"
attrs="
	Minimum Probe Description Attributes
		Identifier Names: Stable
		Data Semantics:   Stable
		Dependency Class: Common

	Minimum Statement Attributes
		Identifier Names: Stable
		Data Semantics:   Stable
		Dependency Class: Common
"
dt -qv -n 'dtrace:::BEGIN { exit(0); }'
expect "
Stability attributes for description dtrace:::BEGIN :
$attrs

" "$out"
dt -ev -n 'dtrace:::BEGIN { exit(0); }'
expect "
Stability attributes for description dtrace:::BEGIN :
$attrs
   ID   PROVIDER            MODULE                          FUNCTION NAME
    1     dtrace                                                     BEGIN" "$(head -n 15 <<<"$out")"
dt -e -x amin=Stable/Stable/Common -n 'BEGIN { trace(curthread); }'
expect 1 "$status"
dt -e -x errtags -x amin=Evolving/Evolving/Common -n 'BEGIN { trace(`jiffies); }'
expect_match 'D_ATTR_MIN|D_SYM|D_IDENT' "$err"
