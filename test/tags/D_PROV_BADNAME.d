// tag: D_PROV_BADNAME
provider foo9 { probe bar(int); };
