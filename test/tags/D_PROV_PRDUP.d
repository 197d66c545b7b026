// tag: D_PROV_PRDUP
provider foo { probe bar(int); probe bar(int); };
