// tag: D_PRAGERR
#error not this one
BEGIN { trace(1); }
