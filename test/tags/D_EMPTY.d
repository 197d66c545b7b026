// tag: D_EMPTY
/* nothing here */
