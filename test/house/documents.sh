# Documents wrap at 100 columns, except tables, headings, code, and long links or words.
# needs: python3
python3 - "$SRC" <<'PY'
import glob, re, sys
bad = 0
for path in sorted(glob.glob(sys.argv[1] + '/doc/**/*.md', recursive=True) + [sys.argv[1] + '/README.md']):
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
