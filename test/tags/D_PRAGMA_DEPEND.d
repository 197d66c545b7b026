// tag: D_PRAGMA_DEPEND
#pragma D depends_on provider nosuchprovider
BEGIN { trace(1); }
