// tag: D_IDENT_UNDEF 5
/* Of several that are all wrong the last one is told about. */
BEGIN {
	trace(nosuch1 ??
	    nosuch2);
}
