// tag: D_PRAGERR 2
#error not this one
BEGIN { trace(1); }
