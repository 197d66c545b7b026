# Modules: what is exported and what is private, versions, dependencies, and what goes wrong.
# uses: strace
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
mkdir l other
# The same names in two modules and in the program; every kind of declaration.
cat >l/base.dm <<'E'
/* comments may come first */
module base 1.0.3;
export inline int X = 41;
inline int PORT = 1;
int total;
export inline int bump = total += 10;
E
cat >l/net.dm <<'E'
module net 1.2;
import base 1.0;
export inline int PORT = 80;
inline int local = base::X + 1;
export inline int both[int x] = x + local + PORT + net::PORT;
typedef struct conn { int port; struct conn *next; struct file *file; int local; } conn_t;
conn_t *first;
int file, total;
export enum color { RED, GREEN = local };
export struct pair { int a; struct inner { int total; } in; };
export typedef struct pair pair_t;
translator pair_t < int n > { a = n + local; };
export inline int members[conn_t *c] = sizeof(c->local) + offsetof(struct conn, local) + sizeof(struct file *);
export inline int bump = ++total;
export self int depth;
int hidden;
export inline int enter = (self->depth++, self->hidden = 5, this->hidden = 6, hidden = 7, self->depth);
#pragma D attributes Private/Private/Unknown who
export inline string who = execname;
export inline int error = ENOENT;
E
cat >t.d <<'E'
import net 1.1;	/* and the
	other one */ import	base	1;
int PORT, total;
net::pair_t one;
struct net::pair *none;
self int hidden;
BEGIN
/net::both[1] > 5 && base::X/
{
	PORT = 5;
	total = 3;
	printf("%d %d %d %d\n", PORT, net::PORT, base::X, net::both[3]);
	printf("%d %d %d\n", net::RED, net::GREEN, sizeof(net::pair_t));
	printf("%d %d\n", xlate<net::pair_t>(5).a, xlate<struct net::pair *>(6)->a);
	printf("%d %d %d %d %d\n", net::bump, net::bump, base::bump, base::bump, total);
	self->hidden = 1;
	this->hidden = 2;
	hidden = 3;
	printf("%d %d %d %d %d\n", net::enter, self->net::depth, self->hidden, this->hidden, hidden);
	one.a = 7;
	printf("%d %s %d %d\n", one.a, net::who, net::error, PORT ? net::PORT:base::X);
	exit(0);
}
E
want='5 80 41 205
0 42 8
47 48
1 2 10 20 3
1 1 1 2 3
7 dtrace 2 80'
for run in dt trace; do
	$run -L l -qs t.d
	expect "$want" "$(said)" "$run"
done
# libraries and several programs of one session
echo 'import base; inline int twice = base::X * 2;' >other/lib.d
dt -L l -L other -qn 'BEGIN { printf("%d ", twice); }' -n 'import base 1.0; BEGIN { printf("%d\n", base::X); exit(0); }'
expect "82 41" "$(said)"
# aggregations
cat >l/aggs.dm <<'E'
module aggs;
export @seen, @rest;
export inline int x = 1;
E
dt -L l -qn 'import aggs; BEGIN { @aggs::seen["a"] = count(); @seen[1] = sum(5); printa("%s %@d|", @aggs::seen); printa("%d %@d\n", @seen); exit(0); }'
expect "a 1|1 5" "$(said)"
# Words keep their meaning where they are not part of an import.
dt -qn 'int module, export; BEGIN { module = 3; export = 4; printf("%d %d", module, export); exit(0); }'
expect "3 4" "$(said)"
dt -qn 'struct module_ { int import; } x; BEGIN { x.import = 3; printf("%d", x.import); exit(0); }'
expect "3" "$(said)"

# ---- what is refused ----
# refused PATTERN PROGRAM
refused() {
	dt -L l -L other -x errtags -n "$2"
	expect 1 "$status" "$2"
	expect_match "$1" "$err"
}
refused 'D_MODULE.*module nosuch is not found: there is no nosuch.dm in the directories of -L and ' 'import nosuch; BEGIN { exit(0); }'
refused 'D_MODULE.*net \(l/net.dm\) is version 1.2, which is too old: 1.3 or later is needed' 'import net 1.3; BEGIN { exit(0); }'
refused 'D_MODULE.*is version 1.2, which is too new: 0.9 is needed' 'import net 0.9; BEGIN { exit(0); }'
refused 'D_MODULE.*aggs.dm\) has no version, but 1.0 is needed' 'import aggs 1; BEGIN { exit(0); }'
refused 'D_MODULE.*net::PORT: module net is not imported; write import net;' 'BEGIN { trace(net::PORT); }'
refused 'D_MODULE.*net::PORT: module net is not imported' 'import base; BEGIN { trace(net::PORT); }'
refused 'D_MODULE.*base::X: module base is not imported' 'import net; BEGIN { trace(base::X); }'
refused 'D_MODULE.*module net does not export net::local' 'import net; BEGIN { trace(net::local); }'
refused 'D_MODULE.*module net does not export net::conn' 'import net; BEGIN { trace(sizeof(struct net::conn)); }'
refused 'D_MODULE.*module net does not export net::hidden' 'import net; BEGIN { trace(self->net::hidden); }'
refused 'D_MODULE.*module net has no net::nosuch' 'import net; BEGIN { trace(net::nosuch); }'
refused 'D_MODULE.*module net has no @net::PORT' 'import net; BEGIN { @net::PORT = count(); }'
refused 'D_IDENT_UNDEF.*failed to resolve local' 'import net; BEGIN { trace(local); }'
refused 'D_DECL_SCOPE.*net::PORT belongs to its module' 'import net; int net::PORT; BEGIN { exit(0); }'
refused 'D_DECL_TYPERED' 'import net; struct net::pair { int x; }; BEGIN { exit(0); }'
refused 'D_SYNTAX.*expected import net; or import net 1.0;' 'import net BEGIN { exit(0); }'
refused 'D_MODULE.*invalid version 1.2.3.4 of module net' 'import net 1.2.3.4; BEGIN { exit(0); }'
refused 'D_MODULE.*module mine must be a file mine.dm' 'module mine; BEGIN { exit(0); }'
# bad NAME PATTERN TEXT: a module with a mistake
bad() {
	printf '%s\n' "$3" >"other/$1.dm"
	refused "$2" "import $1; BEGIN { exit(0); }"
}
bad none 'D_MODULE.*other/none.dm does not begin with module none;' 'inline int x = 1;'
bad alias 'D_MODULE.*line 1: the file of module alias declares module other' 'module other;'
bad clause 'D_SYNTAX.*other/clause.dm", line 2: a library may not contain probe clauses' 'module clause;
BEGIN { exit(0); }'
bad wrong 'D_SYNTAX.*other/wrong.dm", line 3: ' 'module wrong;

inline int x = ;'
bad deps 'D_MODULE.*line 1: module nosuch is not found' 'module deps; import nosuch;'
bad older 'D_MODULE.*other/older.dm", line 2: module net .* too old: 1.9 or later' 'module older;
import net 1.9;'
bad mine 'D_MODULE.*other/mine.dm", line 2: module mine can only translate to types of its own, not to struct timespec' 'module mine;
translator struct timespec < int n > { tv_sec = n; };'
bad undeclared 'D_MODULE.*line 2: y must be declared' 'module undeclared;
export inline int x = (y = 1);'
bad absent 'D_MODULE.*module absent \(other/absent.dm\) cannot be used: something it depends on is absent' '#pragma D depends_on provider nosuch
module absent;'
bad itself 'D_MODULE.*modules import each other: itself imports itself' 'module itself; import itself;'
for m in a:b b:c c:a; do echo "module ${m%:*}; import ${m#*:}; export inline int x = 1;" >other/${m%:*}.dm; done
refused 'D_MODULE.*modules import each other: a imports b imports c imports a' 'import a; BEGIN { exit(0); }'
dt -L l -x nolibs -n 'import net; BEGIN { exit(0); }'
expect_match 'module net cannot be used with option nolibs' "$err"
# a program's own variable is not what a module means, in whichever order they come
echo 'module late; export inline int x = own;' >other/late.dm
refused 'D_IDENT_UNDEF.*failed to resolve own' 'int own; import late; BEGIN { exit(0); }'
# modules are trusted as libraries are
chmod o+w other/none.dm
dt -L l -L other -n 'import none; BEGIN { exit(0); }'
expect_match 'failed to read library "other/none.dm": every user can write it' "$err"

# ---- what is not imported is not opened ----
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	opened() { strace -f -e trace=file -o trace "$DTRACE" -x engine=vm -L l "$@" >/dev/null 2>&1; grep -oE '[a-z]+\.dm' trace | sort -u | tr '\n' ' '; }
	expect "" "$(opened -n 'BEGIN { trace(ENOENT); exit(0); }')"
	expect "base.dm " "$(opened -n 'import base; BEGIN { exit(0); }')"
	expect "base.dm net.dm " "$(opened -n 'import net; BEGIN { exit(0); }')"
fi
