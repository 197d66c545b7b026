// tag: D_PROV_PRXLATOR
struct out { int a; };
provider foo { probe bar(int x) : (struct out *x); };
