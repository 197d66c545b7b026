# Documents wrap at 100 columns, except tables, headings, code, and long links or words. Files that they name exist, and
# so do functions (`f()` of `file.c`).
# needs: python3
python3 - "$SRC" <<'PY'
import glob, os, re, sys
bad = 0


def named(path, text):
    """Files that a document names but that do not exist."""
    if path.endswith('porting.md'):  # it names files that a port would add, and those of others
        return
    for name in re.findall(r'`((?:bench|bindings|cmd|doc|include|lib|packaging|profiles|src|test|tools)/[\w./*-]+)`', text):
        if not glob.glob(name.replace('NAME', '*')):
            yield 'there is no ' + name
    for function, name in re.findall(r'`(\w+)\(\)`\s+of\s+`([\w./-]+)`', text):
        if not os.path.exists(name) or not re.search(r'\b%s\(' % function, open(name).read()):
            yield '%s has no %s()' % (name, function)


os.chdir(sys.argv[1])
for path in sorted(glob.glob(sys.argv[1] + '/doc/**/*.md', recursive=True) + [sys.argv[1] + '/README.md']):
    for what in named(path, open(path).read()):
        print('%s: %s' % (path[len(sys.argv[1]) + 1:], what))
        bad = 1
    fence = False
    for number, line in enumerate(open(path), 1):
        line = line.rstrip('\n')
        if re.match(r'\s*```', line):
            fence = not fence
        elif not fence and len(line) > 100 and not line.startswith(('|', '#', '\t', '    ')):
            # one piece of code or a link as long as that stays whole
            if max(len(w) for w in re.findall(r'(?:``[^`].*?``|`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+', line)) < 80:
                print('%s:%d: %d columns' % (path[len(sys.argv[1]) + 1:], number, len(line)))
                bad = 1
sys.exit(bad)
PY
