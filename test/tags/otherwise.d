// tag: D_IDENT_UNDEF 5
/* If all alternatives are invalid, the last one is reported. */
BEGIN {
	trace(nosuch1 ??
	    nosuch2);
}
