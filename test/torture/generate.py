"""Random D programs that need only BEGIN, END and ERROR, and nothing of which the two engines may say different things."""

INTS = ['char', 'short', 'int', 'long', 'int8_t', 'int16_t', 'int32_t', 'int64_t', 'uint8_t', 'uint16_t', 'uint32_t',
        'uint64_t', 'unsigned char', 'unsigned short', 'unsigned int', 'unsigned long long']
EDGES = [0, 1, 2, 3, 7, 8, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 1000, 32767, 32768, 65535, 65536, 2**31 - 1,
         2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = ['', 'a', 'ab', 'abc', 'hello', 'Hello World', '/usr/lib/x', '/a//b/../c', 'a,b;c', '12', '-0x1f', '777', '../..',
         '{\\"a\\": [1, {\\"b\\": \\"x\\"}]}', 'a[1].b', 'a', '/', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '%d', 'x\\ty',
         '\\351\\200', ',', ' ', 'l', 'lo']
HEAD = """struct in {{ int a; char b; unsigned short c; int64_t d; unsigned int e:3; int f:5; uint64_t g:40; }};
struct out {{ int sum; string text; int64_t wide; uint8_t low; }};
translator struct out < struct in *i > {{ sum = i->a + i->b; text = {text}; wide = i->d {op} i->e; low = i->c; }};
inline int fixed = {number};
enum color {{ RED, GREEN = {number}, BLUE }};
union both {{ uint64_t whole; uint32_t half[2]; char bytes[8]; }};
struct deep {{ struct in one; char name[8]; union both u; int8_t list[3]; struct {{ short x; unsigned y:1; unsigned z:31; }} inner; }};
typedef struct deep deep_t;
enum color ge;
"""


class Generator:
    def __init__(self, rng):
        self.r = rng
        self.globals = {f'g{i}': rng.choice(INTS) for i in range(4)}
        self.selfs = {f'self->n{i}': rng.choice(INTS) for i in range(3)}
        self.thiss = {f'this->m{i}': rng.choice(INTS) for i in range(3)}
        self.strings = ['gs0', 'gs1', 'self->s0', 'this->t0', 'this->t1']
        self.functions = []  # names; each has two integers
        self.aggs = {}
        self.budget = 0
        self.members = False  # may this->p be used?
        self.scratch = False  # may this->q?

    def pick(self, *choices):
        return self.r.choice(choices)

    # ---- integers ----

    def number(self, d=0):
        n = self.r.choice(EDGES) if self.r.random() < 0.7 else self.r.randrange(0, 2000)
        suffix = self.pick('', '', '', 'U', 'L', 'LL', 'ULL') if n < 2**31 else self.pick('', 'ULL') if n >= 2**63 else ''
        if self.r.random() < 0.1:
            return self.pick("'a'", "'\\n'", "'\\377'", 'fixed', 'GREEN', 'BLUE', 'sizeof (int)', 'sizeof (struct in)')
        text = self.pick(str(n), str(n), hex(n), '0' + oct(n)[2:] if n else '0')
        return text + suffix if self.r.random() < 0.7 else '(-' + text + suffix + ')'

    def int_var(self, d=0):
        names = [*self.globals, *self.selfs, *self.thiss]
        if self.members and self.r.random() < 0.3:
            return 'this->p->' + self.pick('a', 'b', 'c', 'd', 'e', 'f', 'g')
        if self.scratch and self.r.random() < 0.2:
            return f'this->q[{self.r.randrange(0, 8)}]'
        if self.r.random() < 0.1:
            return self.pick('gst.', 'many[1].', 'many[g0].', 'self->st.') + self.pick('a', 'b', 'c', 'd', 'e', 'f', 'g')
        if self.r.random() < 0.12:
            return self.pick('gd', 'gd', 'self->dd', 'deeps[g0]') + '.' + self.pick(
                'one.a', 'one.e', 'one.g', 'u.whole', 'u.half[1]', 'u.bytes[2]', 'list[1]', 'list[2]', 'inner.x', 'inner.y', 'inner.z')
        if self.r.random() < 0.04:
            return self.pick('(&ten[3])[2]', '*(&ten[2] + 1)', '*(ten + 4)', '*(&gd.one.a)')
        if self.r.random() < 0.1:
            return f'ten[{self.pick(self.r.randrange(0, 10), self.r.randrange(0, 10), "g1 & 7", "g2 & 7")}]'
        if self.r.random() < 0.15:
            return self.pick(f'arr[{self.int(1)}]', f'two[{self.str(1)}, {self.int(1)}]', f'self->arr[{self.int(1)}]')
        return self.r.choice(names)

    def int(self, depth):
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.number() if self.r.random() < 0.5 else self.r.choice([*self.globals, *self.selfs, *self.thiss])
        make = self.r.choice([self.binary] * 8 + [self.unary] * 2 + [self.cast] * 2 + [self.cond, self.compare, self.compare,
                             self.logic, self.subr_int, self.subr_int, self.assign, self.string_test, self.number, self.int_var])
        if self.functions and self.r.random() < 0.08:
            make = self.call
        return make(depth - 1)

    def call(self, d):
        return f'{self.r.choice(self.functions)}({self.int(d)}, {self.int(d)})'

    def binary(self, d):
        op = self.r.choice(['+', '-', '*', '&', '|', '^', '<<', '>>', '/', '%'])
        right = self.int(d)
        if op in '/%' and self.r.random() < 0.9:
            right = f'({right} | 1)'
        if op in ('<<', '>>') and self.r.random() < 0.5:
            right = f'({right} & 63)'
        return f'({self.int(d)} {op} {right})'

    def unary(self, d):
        return f'({self.pick("-", "~", "!", "+")}{self.int(d)})'

    def cast(self, d):
        return f'(({self.r.choice(INTS)}){self.int(d)})'

    def cond(self, d):
        return f'({self.int(d)} ? {self.int(d)} : {self.int(d)})'

    def compare(self, d):
        return f'({self.int(d)} {self.pick("<", "<=", ">", ">=", "==", "!=")} {self.int(d)})'

    def logic(self, d):
        return f'({self.int(d)} {self.pick("&&", "||", "^^")} {self.int(d)})'

    def string_test(self, d):
        return f'({self.str(d)} {self.pick("<", "<=", ">", ">=", "==", "!=")} {self.str(d)})'

    def assign(self, d):
        var = self.int_var()
        how = self.r.randrange(4)
        if how == 0:
            return f'({var} {self.pick("=", "+=", "-=", "*=", "&=", "|=", "^=")} {self.int(d)})'
        if how == 1:
            return f'({var} {self.pick("<<=", ">>=")} {self.int(d)})'
        if how == 2:
            return f'({self.pick("++", "--")}{var})'
        return f'({var}{self.pick("++", "--")})'

    def subr_int(self, d):
        k = self.r.randrange(6)
        if k == 0:
            return f'strlen({self.str(d)})'
        if k == 1:
            return f'{self.pick("index", "rindex")}({self.str(d)}, {self.str(d)}{self.opt(d)})'
        if k == 2:
            return f'strtoll({self.str(d)}{self.pick("", ", 10", ", 16", ", 8", ", 2", ", 36")})'
        if k == 3:
            return f'{self.pick("htons", "htonl", "htonll", "ntohs", "ntohl", "ntohll")}({self.int(d)})'
        if k == 4:
            return f'{self.pick("getmajor", "getminor")}({self.int(d)})'
        return f'({self.str(d)} {self.pick("==", "!=")} NULL)'

    def opt(self, d):
        return '' if self.r.random() < 0.6 else f', {self.int(d)}' if self.r.random() < 0.3 else f', {self.r.randrange(-6, 12)}'

    # ---- strings ----

    def str(self, depth):
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return f'"{self.r.choice(WORDS)}"' if self.r.random() < 0.5 else self.r.choice(self.strings)
        d = depth - 1
        k = self.r.randrange(19)
        if k in (8, 9, 10, 11) and self.r.random() < 0.5:  # they give NULL, and a fault ends the clause
            k = 0
        if k < 3:
            return f'"{self.r.choice(WORDS)}"'
        if k < 5:
            return self.r.choice(self.strings) if self.r.random() < 0.8 else f'names[{self.int(0)}]'
        if k == 5:
            return f'strjoin({self.str(d)}, {self.str(d)})'
        if k == 6:
            return f'substr({self.str(d)}, {self.small(d)}{self.opt(d)})'
        if k == 7:
            return f'{self.pick("basename", "dirname", "cleanpath", "toupper", "tolower")}({self.str(d)})'
        if k == 8:
            return f"{self.pick('strchr', 'strrchr')}({self.str(d)}, '{self.pick('a', '/', 'l', 'z')}')"
        if k == 9:
            return f'strstr({self.str(d)}, {self.str(d)})'
        if k == 10:
            return f'strtok({self.pick("NULL", self.str(d), self.str(d))}, {self.str(0)})'
        if k == 11:
            return f'json({self.str(d)}, {self.str(0)})'
        if k == 12:
            return f'lltostr({self.int(d)}{self.pick("", "", ", 16", ", 8", ", 2", ", 36")})'
        if k == 13:
            return f'({self.int(d)} ? {self.str(d)} : {self.str(d)})'
        if k == 14:
            return f'stringof({self.str(d)})'
        if k == 15:
            return f'inet_ntoa((ipaddr_t *)(this->ip = (ipaddr_t *)alloca(4), *this->ip = {self.int(d)}, this->ip))'
        if self.r.random() < 0.15:
            return self.pick('stringof(gd.name)', f'inet_ntop(2, {self.address(4, d)})', f'inet_ntop(10, {self.address(16, d)})',
                             f'inet_ntoa6({self.address(16, d)})', f'link_ntop(1, {self.address(6, d)})',
                             f'(({self.int(d)}), {self.str(d)})')
        if k == 16:
            return f'({self.bcopy()}, stringof(this->q))' if self.scratch else self.str(d)
        if k == 17:
            return f"memstr(this->q, '{self.pick('a', '.', ' ')}', {self.r.randrange(0, 16)})" if self.scratch else self.str(d)
        return self.pick('probename', 'probeprov', 'zonename')

    def address(self, n, d):
        made = f'this->ad = (uint8_t *)alloca(16), this->ad[{self.r.randrange(0, n)}] = {self.int(d)}, this->ad[{self.r.randrange(0, n)}] = 255'
        return f'(void *)({made}, this->ad)'

    def bcopy(self):
        """Not beyond the end of anything: what is there depends on the engine."""
        word = self.pick('a', 'abc', 'hello', '/usr/x')
        return f'bcopy("{word}", this->q, {self.r.randrange(1, len(word) + 2)})'

    def small(self, d):
        return str(self.r.randrange(-8, 12)) if self.r.random() < 0.7 else self.int(d)

    # ---- statements ----

    def statement(self, depth=2):
        self.budget = self.r.randrange(4, 30)
        k = self.r.randrange(19)
        if k == 17:
            return self.pick('print(gd); printf("\\n");', 'print(gst);', 'print(ge);', f'ge = {self.int(1)};', 'print(ten);', 'trace(gst);',
                             'gd = self->dd;', 'self->dd = gd;', 'deeps[g0] = gd;', 'gd = deeps[1];', 'gd.one = gst;', 'gst = deeps[g0].one;')
        if k == 18:
            return self.pick('arr[g0] = 0;', 'self->arr[1] = 0;', 'self->s0 = 0;', 'self->n0 = 0;', 'names[g0] = 0;',
                             f'two[{self.str(1)}, g1] = 0;', f'tracemem(ten, {self.r.randrange(1, 11)});', f'tracemem(&gst.a, sizeof (gst), {self.int(1)});',
                             f'trace((char){self.int(1)}); printf("\\n");', f'trace((short){self.int(2)}); printf("\\n");')
        if k == 15 and not depth < 2:
            self.scratch = True
            return f'this->q = (char *)alloca({self.r.randrange(16, 40)}); {self.bcopy()};'
        if k == 16:
            return f'{self.pick("gst", "many[1]", "self->st")} = {self.pick("gst", "many[2]", "many[g0]", "self->st")};'
        if k < 3:
            return f'{self.int_var()} = {self.int(3)};'
        if k < 5:
            return f'{self.r.choice(self.strings)} = {self.str(2)};'
        if k == 5:
            return f'names[{self.int(1)}] = {self.pick(self.str(2), self.str(2), "0")};'
        if k == 6 and depth:
            return self.control(depth)
        if k < 10:
            return self.aggregate()
        if k == 10:
            return f'{self.pick("trace", "print")}({self.pick(self.int(2), self.str(2))}); printf("\\n");'
        if k == 11 and depth == 2:
            return self.struct()
        return self.printf()

    def control(self, depth):
        body = ' '.join(self.statement(depth - 1) for _ in range(self.r.randrange(1, 3)))
        other = self.statement(depth - 1)
        count, rounds = f'this->k{depth}', self.r.randrange(0, 5)
        leave = f'if ({self.int(1)}) {self.pick("break", "continue")};' if self.r.random() < 0.4 else ''
        kind = self.r.randrange(8)
        if kind == 0:
            return f'for ({count} = 0; {count} < {rounds}; {count}++) {{ {leave} {body} }}'
        if kind == 1:
            return f'{count} = {rounds}; while ({count}-- > 0) {{ {body} {leave} }}'
        if kind == 2:
            return f'{count} = 0; do {{ {body} {leave} {other} }} while (++{count} < {rounds});'
        if kind == 3:
            end = self.pick('', 'break;')
            return f'switch ({self.int(1)} % 3) {{ case 0: {body} {end} case 1: {other} {end} default: {self.statement(depth - 1)} }}'
        other = ' else { ' + other + ' }' if self.r.random() < 0.5 else ''
        return f'if ({self.int(2)}) {{ {body} }}{other}'

    def printf(self):
        text, args = '', []
        for _ in range(self.r.randrange(1, 4)):
            flags = self.pick('', '', '', '-', '0', '+', ' ', '#') + self.pick('', '', '', '5', '20') + self.pick('', '', '', '.3')
            k = self.r.randrange(20)
            if k == 0:
                text += '[%c] '
                args.append(f'(char)({self.int(1)} & 63) + 48')
            elif k == 1:
                text += f'[%{self.pick("", "-", "0")}*d] '
                args += [str(self.r.randrange(-5, 15)), f'(int){self.int(2)}']
            elif k == 2:
                text += f'%p %{self.pick("x", "5s", "-10s")} '
                args += [self.int(1), f'(int){self.int(1)}' if text.endswith('x ') else self.str(2)]
            elif k == 3:
                text += f'%{self.pick("d", "x", "5i")} '
                args.append('ge')
            elif k < 8:
                text += f'[%{flags.replace("0", "", 1) if flags.startswith("0") else flags}s] '
                args.append(self.str(3))
            else:
                size, kind = self.pick('', '', 'l', 'll'), self.pick('d', 'i', 'u', 'x', 'X', 'o', 'd', 'x')
                text += f'%{flags}{size}{kind} '
                args.append(f'({"int64_t" if kind in "di" else "uint64_t"}){self.int(3)}' if size else self.int(3))
        return f'printf("{text}\\n", {", ".join(args)});'

    def struct(self):
        self.members = True
        sets = ' '.join(f'this->p->{m} = {self.int(2)};' for m in self.r.sample('abcdefg', 3))
        made = f'this->p = (struct in *)alloca(sizeof (struct in)); {sets} '
        if self.r.random() < 0.5:
            made += 'printf("%d %d %d %d\\n", this->p->e, this->p->f, this->p->g, this->p->c); '
        if self.r.random() < 0.3:
            made += 'print(*this->p); '
        if self.r.random() < 0.3:
            made += 'tracemem(this->p, 8); '
        if self.r.random() < 0.6:
            m = self.pick('sum', 'wide', 'low', 'text')
            made += f'printf("{"%s" if m == "text" else "%d"}\\n", xlate <struct out> (this->p).{m}); '
        return made

    def aggregate(self):
        name = f'@a{self.r.randrange(8)}'
        if name not in self.aggs:
            keys = [self.pick('int', 'int', 'str', 'cast') for _ in range(self.r.randrange(0, 4))]
            self.aggs[name] = (keys, self.r.choice(['count', 'sum', 'min', 'max', 'avg', 'stddev', 'quantize', 'lquantize', 'llquantize']),
                               self.pick((0, 100, 10), (-50, 50, 7), (0, 5, 1)), self.r.choice(INTS))
        keys, func, steps, cast = self.aggs[name]
        values = [self.str(1) if k == 'str' else f'({cast}){self.int(1)}' if k == 'cast' else f'(int){self.int(2)}' for k in keys]
        what = {'count': '', 'lquantize': f'{self.int(2)}, {steps[0]}, {steps[1]}, {steps[2]}', 'llquantize': f'{self.int(2)}, 10, 0, 4, 10'}.get(
            func, self.int(2))
        if func in ('quantize', 'lquantize') and self.r.random() < 0.3:
            what += f', {self.int(1)}'
        return f'{name}{"[" + ", ".join(values) + "]" if keys else ""} = {func}({what});'

    def end(self):
        out = ''
        for name in sorted(self.aggs):
            how = self.r.randrange(7)
            if how == 0:
                out += f'printa({name}); '
            elif how == 4:
                out += 'printa("' + ' '.join('[%s]' if k == 'str' else '%d' for k in self.aggs[name][0]) + f' %@d\\n", {name}); '
            elif how == 1:
                out += f'normalize({name}, {self.pick(1, 2, 7, 1000)}); '
            elif how == 2:
                out += f'trunc({name}, {self.pick(1, 2, -1, 0)}); '
            elif how == 3:
                out += f'clear({name}); '
        plain = [n for n in sorted(self.aggs) if not self.aggs[n][0] and 'quantize' not in self.aggs[n][1]]
        if len(plain) > 1 and self.r.random() < 0.5:
            out += f'printa("{" ".join(["%@d"] * len(plain))}\\n", {", ".join(plain)}); '
        return f'END {{ {out}}}' if out else ''

    # ---- programs ----

    def speculations(self):
        out = ['BEGIN { spec = speculation(); }']
        if self.r.random() < 0.3:
            out.append('BEGIN { printf("%d\\n", speculation()); }')
        for _ in range(self.r.randrange(1, 3)):
            self.members = self.scratch = False
            out.append(f'BEGIN {{ speculate(spec); {self.printf()} }}')
        out.append(f'BEGIN {{ {self.pick("commit", "commit", "discard")}(spec); }}')
        return out

    def clause(self):
        self.members = self.scratch = False
        self.budget = 10
        predicate = f' /{self.int(2)}/' if self.r.random() < 0.2 else ''
        body = '\n\t'.join(self.statement() for _ in range(self.r.randrange(1, 6)))
        return f'{self.pick("BEGIN", "BEGIN", "BEGIN", "END")}{predicate} {{\n\t{body}\n}}'

    def function(self):
        """A function of two integers with a variable of its own; small ones are repeated, large ones compiled once."""
        outside = self.globals
        self.globals = {**outside, 'pa': '', 'pb': '', 'va': ''}
        self.members = self.scratch = False
        body = ''
        for _ in range(self.r.randrange(0, 5)):
            self.budget = self.r.randrange(4, 20)
            do = self.pick(f'va = {self.int(3)};', f'{self.int_var()} += {self.int(2)};', f'return {self.int(2)};')
            body += self.pick(f'if ({self.int(2)}) {do} ', f'if ({self.int(1)}) {{ pb--; {do} }} else {{ pa = {self.int(2)}; }} ',
                              f'va ^= {self.int(2)}; ')
        self.budget = self.r.randrange(2, 15)
        result = self.int(3)
        self.globals = outside
        name = f'fn{len(self.functions)}'
        t = [self.r.choice(INTS) for _ in range(4)]
        self.functions.append(name)
        return f'inline {t[0]} {name}({t[1]} pa, {t[2]} pb) {{ {t[3]} va = {self.number()}; {body}return {result}; }}\n'

    def declarations(self):
        out = [f'{t} {n};' for n, t in self.globals.items()]
        out += [f'self {t} {n[6:]};' for n, t in self.selfs.items()]
        out += [f'this {t} {n[6:]};' for n, t in self.thiss.items()]
        out += ['this int k1, k2;', 'string gs0, gs1;', 'self string s0;', 'this string t0;', 'this string t1;', 'this struct in *p;', 'this char *q;', 'this uint8_t *ad;',
                'struct in gst;', 'deep_t gd;', 'self struct deep dd;', 'deep_t deeps[int];', 'struct in many[int];', 'self struct in st;', f'{self.r.choice(INTS)} ten[10];',
                f'{self.r.choice(INTS)} arr[int];', f'{self.r.choice(INTS)} two[string, int64_t];',
                f'self {self.r.choice(INTS)} arr[{self.pick("int", "char", "uint64_t")}];', 'string names[int];', 'int spec;']
        return ' '.join(out)

    def program(self):
        """The text, and options for the command."""
        self.budget = 3
        head = HEAD.format(text=self.pick('"t"', 'i->a > 3 ? "big" : "small"', 'lltostr(i->d)', 'strjoin("<", ">")'),
                           op=self.pick('+', '-', '*', '<<'), number=self.r.randrange(0, 300))
        functions = ''.join(self.function() for _ in range(self.pick(0, 0, 1, 3)))
        clauses = [self.clause() for _ in range(self.r.randrange(1, 6))]
        if self.r.random() < 0.85:  # else strings are NULL, which most subroutines take for a bad address
            begin = ' '.join(f'{v} = "{self.r.choice(WORDS)}";' for v in self.strings)
            clauses[:0] = [f'BEGIN {{ {begin} }}', f'END {{ {begin} }}']
        if self.r.random() < 0.3:
            clauses.insert(self.r.randrange(len(clauses) + 1), '\n'.join(self.speculations()))
        if self.r.random() < 0.5:
            clauses.append('ERROR { printf("error: %d %d %d %d\\n", arg1 > 0, arg2, arg3, arg4); }')
        clauses.append(self.end())
        options = ['-q'] if self.r.random() < 0.7 else []
        if self.r.random() < 0.3:
            options += ['-x', f'strsize={self.r.choice([8, 16, 31, 64, 300])}']
        for option in ('nspec=3', 'aggsortrev', 'aggsortkey', 'aggsortkeypos=1', 'aggsortpos=1', 'aggzoom', 'aggpack', 'agghist', 'cleanrate=1000hz'):
            if self.r.random() < 0.08:
                options += ['-x', option]
        return head + self.declarations() + '\n' + functions + '\n'.join(clauses) + '\nBEGIN { exit(' + str(self.pick(0, 0, 3, 255)) + '); }\n', options


# Where a sum, product or quotient of constants has the type of that of variables: a constant that a signed type cannot hold has a wider one.
ROOMY = [('int64_t', ''), ('uint64_t', ''), ('uint32_t', ''), ('uint16_t', ''), ('uint8_t', ''), ('int32_t', ' & 0x3fff'), ('int16_t', ' & 0x7f')]


class Twins:
    """Expressions of constants, which the compiler computes, each beside the same expression of variables, which an engine does."""

    def __init__(self, rng):
        self.r = rng
        self.names = []

    def leaf(self):
        kind = self.r.choice(INTS)
        value = self.r.choice(EDGES) * self.r.choice([1, 1, -1])
        name = f'v{len(self.names)}'
        self.names.append((kind, name, value))
        suffix = 'ULL' if value >= 2**63 or value <= -2**63 else ''
        return f'(({kind})({value}{suffix}))', name

    def both(self, depth):
        if depth == 0:
            return self.leaf()
        k = self.r.randrange(10)
        a = self.both(depth - 1)
        if k == 0:
            op = self.r.choice(['-', '~', '!'])
            kind = '(int64_t)' if op == '-' else ''
            return tuple(f'({op}{kind}{x})' for x in a)
        if k == 1:
            kind = self.r.choice(INTS)
            return tuple(f'(({kind}){x})' for x in a)
        b = self.both(self.r.randrange(depth))
        if k == 2:
            c = self.both(0)
            return tuple(f'({x} ? {y} : {z})' for x, y, z in zip(a, b, c))
        op = self.r.choice(['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>', '<', '<=', '>', '>=', '==', '!=', '&&', '||', '^^'])
        if op == '%':
            return tuple(f'({x} {op} ({y} | 1))' for x, y in zip(a, b))
        if op in '+-*/':
            kind, mask = self.r.choice(ROOMY)
            if op == '/':
                b = tuple(f'{y} | 1' for y in b)
            return tuple(f'(({kind})({x}{mask}) {op} ({kind})(({y}){mask}))' for x, y in zip(a, b))
        if op == '<<':
            return tuple(f'((int64_t){x} {op} ({y} & 31))' for x, y in zip(a, b))
        if op == '>>':
            return tuple(f'({x} {op} ({y} & 31))' for x, y in zip(a, b))
        return tuple(f'({x} {op} {y})' for x, y in zip(a, b))

    def program(self):
        pairs = [self.both(self.r.randrange(1, 4)) for _ in range(8)]
        declared = ' '.join(f'{t} {n};' for t, n, _ in self.names)
        sets = ' '.join(f'{n} = {v}{"ULL" if abs(v) >= 2**63 else ""};' for _, n, v in self.names)
        lines = [f'BEGIN {{ this->a = (int64_t){a}; this->b = (int64_t){b}; printf("%d %x %x %d\\n", {i}, this->a, this->b, this->a == this->b); }}'
                 for i, (a, b) in enumerate(pairs)]
        return f'{declared}\nBEGIN {{ {sets} }}\n' + '\n'.join(lines) + '\nBEGIN { exit(0); }\n', ['-q']
