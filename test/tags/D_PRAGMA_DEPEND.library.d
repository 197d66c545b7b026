// tag: D_PRAGMA_DEPEND 3
#pragma D depends_on library errno.d
#pragma D depends_on library nosuch.d
BEGIN { trace(1); }
