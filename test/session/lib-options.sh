# Options in a library of -L: they hold for the program, for what the library itself defines and for other libraries.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
mkdir l m
long=$(printf 'x%.0s' $(seq 400))
# raised after a string was declared there, and before the program declares one
printf 'string before;\ninline string LONG = "%s";\n#pragma D option strsize=512\nstring after;\n' "$long" >l/a.d
for engine in $(id -u | grep -q '^0$' && echo bpf) vm; do
	"$DTRACE" -x engine=$engine -L l -qn 'string own; self string mine;
		BEGIN { before = LONG; after = before; own = after; self->mine = own; a[own] = 1;
			printf("%d %d %d %d %d %d %d\n", strlen(before), strlen(after), strlen(own), strlen(self->mine), sizeof (before),
			    sizeof (own), a[LONG]); exit(0); }' >out 2>err
	case $(cat err) in *"BPF"* | *"permi"*) [ $engine = bpf ] && continue ;; esac
	expect "400 400 400 400 512 512 1" "$(grep . out)" "$engine: $(cat err)"
done
# quiet and sizes; a pragma of the program comes later and wins; -x does not, as it does not over a script's
printf '#pragma D option quiet\n#pragma D option bufsize=64k\n#pragma D option strsize=100\n' >m/b.d
dt -L m -n 'BEGIN { printf("%d\n", strlen("'"$long"'")); exit(0); }'
expect_match '^(99|100)$' "$out"
expect "" "$err" "quiet"
printf '#pragma D option strsize=300\nBEGIN { printf("%%d\\n", strlen("%s")); exit(0); }\n' "$long" >s.d
dt -L m -s s.d
expect_match '^(299|300)$' "$out"
dt -L m -x strsize=50 -n 'BEGIN { printf("%d\n", strlen("'"$long"'")); exit(0); }'
expect_match '^(99|100)$' "$out"
# a mistake names the library's line
printf '\n#pragma D option nosuch=1\n' >m/b.d
dt -L m -n 'BEGIN { exit(0); }'
expect_match '"m/b.d", line 2: .*nosuch' "$err"
printf '#pragma D option strsize=10000000000\n' >m/b.d
dt -L m -n 'BEGIN { exit(0); }'
expect_match '"m/b.d", line 1: ' "$err"
