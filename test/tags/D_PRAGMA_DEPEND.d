// tag: D_PRAGMA_DEPEND 2
#pragma D depends_on provider nosuchprovider
BEGIN { trace(1); }
