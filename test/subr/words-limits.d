// With strings of 8 bytes: hexstr() is cut, strreplace() and sprintf() fault, NULL faults.
// run: -q -x strsize=8
BEGIN { p = "0123456789"; trace(hexstr("abcdef", 6)); trace(strreplace("aaaaaaa", "a", "b")); trace(strfield("ab:cdefgh", ":", 1)); }
BEGIN { trace(strreplace("aaa", "a", "bbb")); }
BEGIN { trace(sprintf("%s%s", "abcde", "fghi")); }
BEGIN { trace(strhash((string)NULL)); }
BEGIN { trace(strreplace("a", "a", (string)NULL)); }
BEGIN { trace(hexstr((void *)8, 4)); }
BEGIN { trace(strcasecmp((string)NULL, "a")); }
BEGIN { exit(0); }
