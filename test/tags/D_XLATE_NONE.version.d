// A translator can also be newer than the requested version.
// tag: D_XLATE_NONE 8
// run: -x version=1.4
#pragma D binding "1.5" translator
struct out { int a; };
translator struct out < int n > { a = n; };

BEGIN { trace(xlate < struct out > (1).a); }
