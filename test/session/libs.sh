# D libraries: which are read, in what order, and what goes wrong.
# uses: strace
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
# The system's: only what the program names.
dt -qn 'BEGIN { printf("%d %d %d\n", ENOENT, SIGKILL, O_CREAT); exit(0); }'
expect "2 9 64" "$(echo $out)"
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	opened() { strace -f -e trace=openat,open -o trace "$DTRACE" -x engine=vm "$@" >/dev/null 2>&1; sed -nE 's/.*"([^"]*\/)?([a-z]+\.d)".* = [0-9]+$/\2/p' trace | sort -u; }
	expect "" "$(opened -n 'BEGIN { exit(0); }')" "BEGIN reads"
	expect "" "$(opened -n 'BEGIN { @[execname] = count(); x = 1; trace(x); self->y = 2; exit(0); }')"
	expect "" "$(grep -E 'btf|kallsyms' trace)"
fi
# structures of system calls; the program's own of the same name is what it means
dt -qn 'BEGIN { printf("%d %d %d %d\n", sizeof(struct timespec), sizeof(struct itimerval), sizeof(in6_addr_t *), sizeof(hrtime_t)); exit(0); }'
expect "16 32 8 8" "$(echo $out)" "$err"
dt -qn 'struct timespec { int mine; }; BEGIN { printf("%d\n", sizeof(struct timespec)); exit(0); }'
expect "4" "$(echo $out)" "$err"
# -L libraries come first and replace the system's of the same name.
mkdir l m
echo 'inline int ENOENT = 1002;' >l/errno.d
printf '#pragma D depends_on library base.d\ninline int two = one + 1;\n' >l/a.d
echo 'inline int one = 1;' >l/base.d
dt -L l -qn 'BEGIN { printf("%d %d\n", ENOENT, two); exit(0); }'
expect "1002 2" "$(echo $out)"
dt -x nolibs -x errtags -n 'BEGIN { trace(ENOENT); }'
expect_match 'D_IDENT_UNDEF' "$err"
dt -x syslibdir="$TMP/l" -qn 'BEGIN { printf("%d\n", two); exit(0); }'
expect "2" "$(echo $out)"
# a library is found by whatever it defines, however that is written
mkdir s
cat >s/ends.d <<'EOF'
inline int after_blank
	/* a comment */ = 11;
inline int after_comment/* a comment */= 12;
enum { first_member, middle_member = 21, last_member };
enum { member_before_comment /* a comment */ };
struct tag_of_struct { int a; };
typedef int plain_type;
typedef int array_type[3];
typedef int (*pointer_type)(int);
int global_variable, second_variable;
int global_array[int];
inline int a_function(int n) { return (n + 1); }
typedef int skipped_word __attribute__((unused));
translator struct translated < struct tag_of_struct *T > { b = T->a; };
EOF
echo 'struct translated { int b; };' >s/translated.d
while IFS='|' read -r want text; do
	dt -x syslibdir="$TMP/s" -qn "BEGIN { printf(\"%d\n\", (int)($text)); exit(0); }"
	expect "$want" "$(echo $out)" "$text: $err"
done <<'EOF'
11|after_blank
12|after_comment
0|first_member
21|middle_member
22|last_member
0|member_before_comment
4|sizeof(struct tag_of_struct)
4|sizeof(plain_type)
12|sizeof(array_type)
8|sizeof(pointer_type)
0|global_variable
0|second_variable
0|global_array[1]
5|a_function(4)
4|sizeof(skipped_word)
4|sizeof((xlate <struct translated> ((struct tag_of_struct *)0))->b)
EOF
# unmet: skipped silently
printf '#pragma D depends_on library nosuch.d\ninline int three = 3;\n' >m/c.d
dt -L m -qn 'BEGIN { printf("fine\n"); exit(0); }'
expect "fine" "$(echo $out)"
dt -L m -x errtags -n 'BEGIN { trace(three); }'
expect_match 'D_IDENT_UNDEF' "$err"
# errors name the library
printf '\n\ninline int x = ;\n' >m/bad.d
dt -L m -n 'BEGIN { exit(0); }'
expect_match 'invalid probe specifier BEGIN \{ exit\(0\); \}: "m/bad.d", line 3: ' "$err"
dt -L nosuchdir -n 'BEGIN { exit(0); }'
expect_match 'failed to open library directory "nosuchdir"' "$err"
rm m/*
printf '#pragma D depends_on library y.d\ninline int x = 1;\n' >m/x.d
printf '#pragma D depends_on library x.d\ninline int y = 1;\n' >m/y.d
dt -L m -n 'BEGIN { exit(0); }'
expect 1 "$status"
expect_match 'circular.*"m/x.d".*"m/y.d"' "$err"

# Of our own libraries only what a program uses is checked; with -L all of their definitions are.
dt -e -L "$SRC/lib" -L "$SRC/lib/$(uname -m)" -n BEGIN
expect "0 " "$status $err" "our own libraries"
