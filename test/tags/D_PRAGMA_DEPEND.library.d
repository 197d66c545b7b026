// tag: D_PRAGMA_DEPEND 2
#pragma D depends_on library errno.d
#pragma D depends_on library nosuch.d
BEGIN { trace(1); }
